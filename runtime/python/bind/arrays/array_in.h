#pragma once
// Arrays that a Python caller passes: of NumPy, torch, CuPy, JAX, and of any library with one of their
// protocols.
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

/// The library of an array. Results are arrays of the same library. Masked arrays of NumPy are refused.
enum class Kind : std::uint8_t { numpy, torch, cupy, jax, other, masked };

/// Returns the kind of an object, by its type. Remembers the answer for each type.
[[nodiscard]] Kind kind_of(nb::handle object);

/// Whether an array is read or written.
enum class Access : std::uint8_t { read, write };

/// The shape that an array must have: numbers in one dimension; elements of a parameter in one dimension; or
/// rows of features, [n, K] in C order.
enum class Holds : std::uint8_t { numbers, elements, rows };

struct ArrowIn;

/// An array of the caller, which this object keeps alive. Memory is not copied, except for Arrow's chunks and
/// lists that do not lie side by side.
class ArrayIn {
public:
    ArrayIn() = default;
    /// `what` names the argument in messages: "x", "offsets".
    ///
    /// Throws InputError if the object is not an array, if its number of dimensions does not fit `holds`, if
    /// it has gaps or is not in C order, if the language lacks the type of its elements, or if it is
    /// read-only and `access` is write.
    ArrayIn(nb::handle object, const std::string& what, Access access = Access::read,
            Holds holds = Holds::numbers);
    /// Makes a scalar of `type` from a Python number: an array of one element on the host. Takes an array of
    /// one element as it is.
    ///
    /// Throws InputError if the value is not a number, or if `type` cannot represent it.
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
    /// The number of elements, or of rows if the array holds rows.
    [[nodiscard]] std::int64_t num_entries() const { return view_.length / view_.num_features; }
    /// The ordinal of the GPU on which the array lies.
    [[nodiscard]] int device() const { return device_; }
    [[nodiscard]] nb::handle object() const { return object_; }
    /// True if the array came by Arrow's interface.
    [[nodiscard]] bool is_arrow() const { return arrow_ != nullptr; }
    /// The lists of an Arrow array, as segments of its elements; null if the array holds no lists.
    [[nodiscard]] const SegmentsView* lists() const;
    /// Replaces the memory by that of `array`, which lies on the host and must have the same type and number
    /// of entries.
    void lend(std::shared_ptr<const Array> array)
    {
        lent_ = std::move(array);
        view_.data = lent_->data();
    }
    /// The shape that the constructor required.
    [[nodiscard]] Holds holds() const { return holds_; }
    /// The stream that the array names in `__cuda_array_interface__`; 0 if it names none.
    [[nodiscard]] std::uintptr_t own_stream() const { return own_stream_; }

private:
    void take_number(const std::string& what, Type type);
    void take_buffer(const std::string& what, Access access);
    void take_bfloat16(const std::string& what, Access access);
    void take_torch(const std::string& what);
    /// Checks sizes and strides, then uses the memory as the array. Strides are in bytes; no strides mean C
    /// order.
    void take_memory(const std::string& what, Type type, const void* data, Place place,
                     std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);
    void take_cuda_interface(const std::string& what, Access access);
    void take_arrow(const std::string& what, Access access);
    void take_dlpack(const std::string& what, Access access);
    /// Returns the result of `__dlpack__`: a capsule, or for JAX the array itself.
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
    nb::object exported_;  ///< the object whose memory is read in place of `object_`, if any
    std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;
    std::unique_ptr<ArrowIn, ReleaseArrow> arrow_;
    nb::ndarray<nb::ro> imported_;
    std::shared_ptr<const Array> lent_;  ///< its memory replaces the caller's; null: it does not
};

/// Returns the dtype word of a type: "float32".
[[nodiscard]] std::string dtype_name(Type type);

}  // namespace segfold::python
