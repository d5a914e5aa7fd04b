#pragma once
// Views of arrays that a caller lends, on the host or on a GPU: address, type and length.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "dsl/array.h"
#include "dsl/type.h"

namespace segfold {

/// Maps a 16-bit floating-point type of C++ to a type of segfold's language. Specialise it for each such
/// type:
///
///     template <>
///     struct segfold::HalfElement<my::half> { static constexpr Type type = Type::f16; };
///
/// segfold's own half and bfloat16 are known, and so are CUDA's __half and __nv_bfloat16 if their headers are
/// included before this one.
template <class T>
struct HalfElement;
struct half;
template <>
struct HalfElement<half> {
    static constexpr Type type = Type::f16;
};
struct bfloat16;
template <>
struct HalfElement<bfloat16> {
    static constexpr Type type = Type::bf16;
};
#ifdef __CUDA_FP16_TYPES_EXIST__
template <>
struct HalfElement<__half> {
    static constexpr Type type = Type::f16;
};
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <>
struct HalfElement<__nv_bfloat16> {
    static constexpr Type type = Type::bf16;
};
#endif

template <class T>
concept IsHalfElement = sizeof(T) == 2 && requires
{
    HalfElement<T>::type;
};

/// Returns the `Type` of a C++ type.
template <class T>
constexpr Type type_of_element()
{
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, bool>)
        return Type::boolean;
    else if constexpr (std::is_same_v<U, float>)
        return Type::f32;
    else if constexpr (std::is_same_v<U, double>)
        return Type::f64;
    else if constexpr (IsHalfElement<U>) {
        static_assert(HalfElement<U>::type == Type::f16 || HalfElement<U>::type == Type::bf16,
                      "segfold: a HalfElement is of Type::f16 or Type::bf16");
        return HalfElement<U>::type;
    } else {
        static_assert(std::is_integral_v<U>,
                      "segfold: elements are bool, integers, float or double, or a 16-bit type for which "
                      "segfold::HalfElement is specialised");
        constexpr bool is_signed = std::is_signed_v<U>;
        if constexpr (sizeof(U) == 1)
            return is_signed ? Type::i8 : Type::u8;
        else if constexpr (sizeof(U) == 2)
            return is_signed ? Type::i16 : Type::u16;
        else if constexpr (sizeof(U) == 4)
            return is_signed ? Type::i32 : Type::u32;
        else
            return is_signed ? Type::i64 : Type::u64;
    }
}

/// The memory that holds an array: the host's, or a GPU's.
enum class Place : std::uint8_t { host, device };

struct MutableArrayView;

/// An array to be read. The memory is the caller's and must stay valid while the view is in use.
struct ArrayView {
    Type type = Type::f32;
    const void* data = nullptr;
    std::int64_t length = 0;  ///< number of elements; for rows, of numbers in all rows
    Place place = Place::host;
    std::int64_t num_features = 1;  ///< number of features in a row; 1 without rows

    ArrayView() = default;
    ArrayView(Type element, const void* pointer, std::int64_t count, Place where = Place::host)
        : type(element), data(pointer), length(count), place(where)
    {}
    template <class T, std::size_t extent>
    ArrayView(std::span<T, extent> values)  // NOLINT(google-explicit-constructor): lending is its purpose
        : ArrayView(type_of_element<T>(), values.data(), static_cast<std::int64_t>(values.size()))
    {}
    template <class T, class Allocator>
    requires(!std::is_same_v<T, bool>)
        ArrayView(const std::vector<T, Allocator>& values)  // NOLINT(google-explicit-constructor)
        : ArrayView(std::span<const T>(values))
    {}
    template <class Allocator>
    ArrayView(const std::vector<bool, Allocator>&)  // NOLINT(google-explicit-constructor)
    {
        static_assert(sizeof(Allocator) == 0,
                      "segfold: a std::vector<bool> has no array of bool; of a std::vector<char> of 0 and 1, "
                      "ArrayView(Type::boolean, values.data(), n) lends one");
    }
    template <class T, std::size_t extent>
    ArrayView(const std::array<T, extent>& values)  // NOLINT(google-explicit-constructor)
        : ArrayView(std::span<const T>(values))
    {}
    template <class T, std::size_t extent>
    ArrayView(const T (&values)[extent])  // NOLINT(google-explicit-constructor)
        : ArrayView(std::span<const T>(values))
    {}
    ArrayView(const MutableArrayView& array);  // NOLINT(google-explicit-constructor): can be read as well
};

/// An array to be written. The memory is the caller's.
struct MutableArrayView {
    Type type = Type::f32;
    void* data = nullptr;
    std::int64_t length = 0;
    Place place = Place::host;

    MutableArrayView() = default;
    MutableArrayView(Type element, void* pointer, std::int64_t count, Place where = Place::host)
        : type(element), data(pointer), length(count), place(where)
    {}
    template <class T, std::size_t extent>
    requires(!std::is_const_v<T>)
        MutableArrayView(std::span<T, extent> values)  // NOLINT(google-explicit-constructor)
        : MutableArrayView(type_of_element<T>(), values.data(), static_cast<std::int64_t>(values.size()))
    {}
    template <class T, class Allocator>
    requires(!std::is_same_v<T, bool>)
        MutableArrayView(std::vector<T, Allocator>& values)  // NOLINT(google-explicit-constructor)
        : MutableArrayView(std::span<T>(values))
    {}
    template <class T, std::size_t extent>
    MutableArrayView(std::array<T, extent>& values)  // NOLINT(google-explicit-constructor)
        : MutableArrayView(std::span<T>(values))
    {}
    template <class T, std::size_t extent>
    requires(!std::is_const_v<T>)
        MutableArrayView(T (&values)[extent])  // NOLINT(google-explicit-constructor)
        : MutableArrayView(std::span<T>(values))
    {}
};

inline ArrayView::ArrayView(const MutableArrayView& array)
    : ArrayView(array.type, array.data, array.length, array.place)
{}

/// Returns a view of an array on the host, with its row length if it has rows.
[[nodiscard]] inline ArrayView view_of(const Array& array)
{
    ArrayView view(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
    view.num_features = array.row_length() == 0 ? 1 : static_cast<std::int64_t>(array.row_length());
    return view;
}
/// Returns a writable view of an array on the host.
[[nodiscard]] inline MutableArrayView room_in(Array& array)
{
    return {array.type(), array.data(), static_cast<std::int64_t>(array.length())};
}
/// Returns an array that borrows the memory of a view on the host.
[[nodiscard]] inline Array borrow(const ArrayView& view)
{
    return Array::borrow(view.type, view.data, static_cast<std::size_t>(view.length));
}

/// Returns `array` as rows of `num_features` numbers each, in C order.
[[nodiscard]] inline ArrayView rows_of(ArrayView array, std::int64_t num_features)
{
    array.num_features = num_features;
    return array;
}

/// Returns a view of `length` elements on the session's GPU.
template <class T>
[[nodiscard]] ArrayView on_device(const T* pointer, std::int64_t length)
{
    return {type_of_element<T>(), pointer, length, Place::device};
}
template <class T>
requires(!std::is_const_v<T>) [[nodiscard]] MutableArrayView on_device(T* pointer, std::int64_t length)
{
    return {type_of_element<T>(), pointer, length, Place::device};
}

}  // namespace segfold
