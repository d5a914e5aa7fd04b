#pragma once
// Arrays passed by a Python caller. They come from NumPy, torch, CuPy, JAX, or any library that supports one
// of their protocols.
#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <span>
#include <string>

#include "dsl/array.h"
#include "runtime/data/array_view.h"
#include "runtime/session/segments_view.h"

namespace segfold::python {

namespace nb = nanobind;

/// The library of an array. Results are arrays of the same library. `masked` stands for NumPy's masked
/// arrays, which are refused.
enum class Kind : std::uint8_t { numpy, torch, cupy, jax, other, masked };

/// Returns the kind of an object, which depends only on the object's type. Caches the answer for each type.
[[nodiscard]] Kind kind_of(nb::handle object);

/// Whether segfold reads or writes an array.
enum class Access : std::uint8_t { read, write };

/// The shape that an array must have. `numbers` and `elements` (of a parameter) have one dimension. `rows` is
/// [n, K] in C order, with rows of K features.
enum class Holds : std::uint8_t { numbers, elements, rows };

struct ArrowIn;

/// An array of the caller, kept alive by this object. The array's memory is used without a copy, except for
/// Arrow chunks and lists that are not contiguous.
class ArrayIn {
public:
    ArrayIn() = default;
    /// Messages call the argument `what`, such as "x" or "offsets".
    ///
    /// Throws InputError if the object is not an array, if its number of dimensions does not match `holds`,
    /// if it has gaps or is not in C order, if segfold lacks its element type, or if it is read-only and
    /// `access` is write.
    ArrayIn(nb::handle object, const std::string& what, Access access = Access::read,
            Holds holds = Holds::numbers);
    /// Makes a scalar of `type` from a Python number, as an array of one element on the host. An array of one
    /// element is used as it is.
    ///
    /// Throws InputError if the value is not a number or `type` cannot represent it.
    static ArrayIn scalar(nb::handle value, const std::string& what, Type type);
    ArrayIn(ArrayIn&& other) noexcept;
    ArrayIn& operator=(ArrayIn&& other) noexcept;
    ~ArrayIn();

    [[nodiscard]] const ArrayView& view() const { return view_; }
    [[nodiscard]] MutableArrayView mutable_view() const
    {
        return {view_.type, const_cast<void*>(view_.data), view_.length, view_.place};
    }
    [[nodiscard]] Kind kind() const { return kind_; }
    /// Returns the number of elements; for an array of rows, the number of rows.
    [[nodiscard]] std::int64_t num_entries() const { return view_.length / view_.num_features; }
    /// Returns the ordinal of the GPU that holds the array.
    [[nodiscard]] int device() const { return device_; }
    [[nodiscard]] nb::handle object() const { return object_; }
    /// True if the array was passed through Arrow's interface.
    [[nodiscard]] bool is_arrow() const { return arrow_ != nullptr; }
    /// Returns the lists of an Arrow array as segments of its elements; null if the array has no lists.
    [[nodiscard]] const SegmentsView* lists() const;
    /// Replaces the array's memory by that of `array`. This must be on the host, and have the same type and
    /// number of entries.
    void lend(std::shared_ptr<const Array> array)
    {
        lent_ = std::move(array);
        view_.data = lent_->data();
    }
    /// Returns the shape that the constructor required.
    [[nodiscard]] Holds holds() const { return holds_; }
    /// Returns the stream named in the array's `__cuda_array_interface__`; 0 if there is none.
    [[nodiscard]] std::uintptr_t own_stream() const { return own_stream_; }

private:
    void take_number(const std::string& what, Type type);
    void take_buffer(const std::string& what, Access access);
    void take_bfloat16(const std::string& what, Access access);
    void take_torch(const std::string& what);
    /// Checks sizes and strides, then uses `data` as the array's memory. Strides are in bytes; without
    /// strides, the memory is in C order.
    void take_memory(const std::string& what, Type type, const void* data, Place place,
                     std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);
    void take_cuda_interface(const std::string& what, Access access);
    void take_arrow(const std::string& what, Access access);
    void take_dlpack(const std::string& what, Access access);
    /// Returns the result of `__dlpack__`, which is a capsule, or for JAX the array itself.
    [[nodiscard]] nb::object dlpack_capsule(const std::string& what) const;

    struct ReleaseBuffer {
        void operator()(Py_buffer* buffer) const;
    };
    struct ReleaseArrow {
        void operator()(ArrowIn* arrow) const;
    };

    ArrayView view_;
    Kind kind_ = Kind::other;
    Access access_ = Access::read;
    Holds holds_ = Holds::numbers;
    int device_ = 0;
    std::uintptr_t own_stream_ = 0;
    nb::object object_;
    nb::object exported_;  ///< object whose memory is used instead of `object_`, if any
    std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;
    std::unique_ptr<ArrowIn, ReleaseArrow> arrow_;
    nb::ndarray<nb::ro> imported_;
    std::shared_ptr<const Array> lent_;  ///< array whose memory replaces the caller's; null if none
};

/// Returns the dtype name of a type, such as "float32".
[[nodiscard]] std::string dtype_name(Type type);

}  // namespace segfold::python
