#pragma once
// Arrays that a Python caller hands in: NumPy, torch, CuPy, JAX and whatever speaks their protocols.
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

/// Whose kind of array it is; results are of the same kind. Masked arrays of NumPy are refused.
enum class Kind : std::uint8_t { numpy, torch, cupy, jax, other, masked };

/// The kind of an object, by its type. Asks a type once.
[[nodiscard]] Kind kind_of(nb::handle object);

/// What an array is taken for.
enum class Access : std::uint8_t { read, write };

/// What an array holds: numbers, in one dimension, which may be a parameter's elements, or rows of them,
/// [n, K] in C order.
enum class Holds : std::uint8_t { numbers, elements, rows };

struct ArrowIn;

/// An array of the caller's, held for as long as this object lives. Nothing is copied but chunks and lists of
/// Arrow that lie apart.
class ArrayIn {
public:
    ArrayIn() = default;
    /// `what` names the argument in messages: "x", "offsets".
    ///
    /// Throws InputError for what is no array, has other dimensions than `holds` says, lies with gaps or in
    /// another order, has elements that the language does not have, or may not be written though `access`
    /// says so.
    ArrayIn(nb::handle object, const std::string& what, Access access = Access::read,
            Holds holds = Holds::numbers);
    /// A number of Python as a scalar of `type`: an array of one, on the host. An array is taken as one.
    ///
    /// Throws InputError for what is no number, or none of this type.
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
    /// Elements or, where it holds rows, these.
    [[nodiscard]] std::int64_t num_entries() const { return view_.length / view_.num_features; }
    /// The ordinal of the GPU that it lies on.
    [[nodiscard]] int device() const { return device_; }
    [[nodiscard]] nb::handle object() const { return object_; }
    /// Whether Arrow's interface lends it.
    [[nodiscard]] bool is_arrow() const { return arrow_ != nullptr; }
    /// The segments that an array of Arrow's lists says of its elements; null for others.
    [[nodiscard]] const SegmentsView* lists() const;
    /// Lends the memory of `array` from now on: as many entries of the same type, on the host.
    void lend(std::shared_ptr<const Array> array)
    {
        lent_ = std::move(array);
        view_.data = lent_->data();
    }
    /// Elements, rows or numbers.
    [[nodiscard]] Holds holds() const { return holds_; }
    /// The stream that the array itself names (`__cuda_array_interface__`), 0 without.
    [[nodiscard]] std::uintptr_t own_stream() const { return own_stream_; }

private:
    void take_number(const std::string& what, Type type);
    void take_buffer(const std::string& what, Access access);
    void take_bfloat16(const std::string& what, Access access);
    void take_torch(const std::string& what);
    /// The memory as an array, once its sizes and its strides in bytes (none: C order) are found right.
    void take_memory(const std::string& what, Type type, const void* data, Place place,
                     std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);
    void take_cuda_interface(const std::string& what, Access access);
    void take_arrow(const std::string& what, Access access);
    void take_dlpack(const std::string& what, Access access);
    /// What `__dlpack__` gives: a capsule, or JAX's array itself.
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
    nb::object exported_;  ///< a view of the object that stands in for it
    std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;
    std::unique_ptr<ArrowIn, ReleaseArrow> arrow_;
    nb::ndarray<nb::ro> imported_;
    std::shared_ptr<const Array> lent_;  ///< in the place of the caller's memory
};

/// The type of the elements that dtype words such as "float32" or "torch.float32" name.
[[nodiscard]] std::string dtype_name(Type type);

}  // namespace segfold::python
