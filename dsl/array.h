#pragma once
// Arrays of numbers in host memory.
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "dsl/error.h"
#include "dsl/type.h"

namespace segfold {

/// C++ type that stores one element of `Type`. f16 and bf16 are stored as their bits.
template <Type type>
struct Storage;
template <>
struct Storage<Type::boolean> {
    using type = bool;
};
template <>
struct Storage<Type::i8> {
    using type = std::int8_t;
};
template <>
struct Storage<Type::i16> {
    using type = std::int16_t;
};
template <>
struct Storage<Type::i32> {
    using type = std::int32_t;
};
template <>
struct Storage<Type::i64> {
    using type = std::int64_t;
};
template <>
struct Storage<Type::u8> {
    using type = std::uint8_t;
};
template <>
struct Storage<Type::u16> {
    using type = std::uint16_t;
};
template <>
struct Storage<Type::u32> {
    using type = std::uint32_t;
};
template <>
struct Storage<Type::u64> {
    using type = std::uint64_t;
};
template <>
struct Storage<Type::f16> {
    using type = std::uint16_t;
};
template <>
struct Storage<Type::bf16> {
    using type = std::uint16_t;
};
template <>
struct Storage<Type::f32> {
    using type = float;
};
template <>
struct Storage<Type::f64> {
    using type = double;
};

/// A one-dimensional array of one scalar type. It owns its memory unless the memory was borrowed.
///
/// An allocation has exactly `length * size_bytes(type)` bytes, so that a memory checker reports any read
/// past the end.
class Array {
public:
    Array() = default;
    ~Array() = default;
    /// Takes the memory and leaves `other` empty.
    Array(Array&& other) noexcept { *this = std::move(other); }
    Array& operator=(Array&& other) noexcept
    {
        type_ = other.type_;
        length_ = std::exchange(other.length_, 0);
        row_length_ = other.row_length_;
        data_ = std::exchange(other.data_, nullptr);
        owned_ = std::move(other.owned_);
        return *this;
    }

    /// An array of `length` elements with unspecified values. Large arrays use large memory pages if the
    /// system allows. Throws InputError if the size in bytes does not fit into 64 bits, and std::bad_alloc if
    /// memory does not suffice.
    Array(Type type, std::size_t length);

    /// Wraps the caller's memory, which must outlive the array and is never written.
    static Array borrow(Type type, const void* data, std::size_t length)
    {
        Array array;
        array.type_ = type;
        array.length_ = length;
        array.data_ = static_cast<std::byte*>(const_cast<void*>(data));
        return array;
    }

    template <class T>
    static Array of(Type type, std::span<const T> values)
    {
        Array array(type, values.size());
        if (sizeof(T) != size_bytes(type))
            throw InternalError("Array::of: element size differs from the type's");
        if (!values.empty())
            std::memcpy(array.data(), values.data(), values.size_bytes());
        return array;
    }

    [[nodiscard]] Array copy() const
    {
        Array other(type_, length_);
        if (length_ != 0)
            std::memcpy(other.data(), data(), bytes());
        other.row_length_ = row_length_;
        return other;
    }

    /// Returns an array that borrows this array's memory. This array must outlive it.
    [[nodiscard]] Array lend() const
    {
        auto other = borrow(type_, data_, length_);
        other.row_length_ = row_length_;
        return other;
    }

    /// False if the memory is borrowed, or if the array has no memory.
    [[nodiscard]] bool owns_memory() const { return owned_ != nullptr; }

    /// Drops all elements except the first `length`. Frees no memory. `length` must not exceed the present
    /// length.
    void shorten(std::size_t length)
    {
        if (length > length_)
            throw InternalError("Array::shorten: the array is shorter");
        length_ = length;
    }

    /// Number of values in a row, if the array holds a matrix of length / row_length rows in C order; 0 if
    /// the array has one dimension.
    [[nodiscard]] std::size_t row_length() const { return row_length_; }
    void set_row_length(std::size_t row_length) { row_length_ = row_length; }

    [[nodiscard]] Type type() const { return type_; }
    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] std::size_t bytes() const { return length_ * size_bytes(type_); }
    [[nodiscard]] std::byte* data() { return data_; }
    [[nodiscard]] const std::byte* data() const { return data_; }

    /// The elements as `T`, which must have the size of the array's type.
    template <class T>
    [[nodiscard]] std::span<T> as()
    {
        check_element<T>();
        return {reinterpret_cast<T*>(data()), length_};
    }
    template <class T>
    [[nodiscard]] std::span<const T> as() const
    {
        check_element<T>();
        return {reinterpret_cast<const T*>(data()), length_};
    }

private:
    template <class T>
    void check_element() const
    {
        if (sizeof(T) != size_bytes(type_))
            throw InternalError("Array::as: element size differs from the type's");
    }

    Type type_ = Type::i32;
    std::size_t length_ = 0;
    std::size_t row_length_ = 0;
    std::unique_ptr<std::byte[]> owned_;
    std::byte* data_ = nullptr;  ///< points to `owned_` or to borrowed memory
};

/// An array and its name in an operator or a file.
struct NamedArray {
    std::string name;
    Array array;
};

}  // namespace segfold
