#pragma once
// Results as arrays of the caller's kind.
#include <array>
#include <memory>

#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/session/folded.h"

namespace segfold {
class Session;
}

namespace segfold::python {

/// The shape of an array that is given back.
struct ShapeOut {
    std::int64_t length = 0;        ///< entries, numbers or rows
    std::int64_t num_features = 0;  ///< numbers of a row; 0: it has one dimension

    [[nodiscard]] std::size_t dimensions() const { return num_features == 0 ? 1 : 2; }
    [[nodiscard]] Holds holds() const { return num_features == 0 ? Holds::numbers : Holds::rows; }
    /// The shape as Python has it, and as DLPack takes it.
    [[nodiscard]] nb::tuple tuple() const;
    [[nodiscard]] std::array<std::size_t, 2> sizes() const;
    bool operator==(const ShapeOut&) const = default;
};

/// An array of the host that shares the memory of `owner`, as an array of `kind`: nothing is copied. It is
/// NumPy's, with a warning, where that kind would hold fewer bits, as JAX does without jax_enable_x64.
[[nodiscard]] nb::object host_array(Kind kind, const Array& array,
                                    const std::shared_ptr<const Folded>& owner);

/// A new array of `kind` beside `model`, an array on a GPU; its elements are unspecified.
[[nodiscard]] nb::object new_on_device(const ArrayIn& model, Type type, const ShapeOut& shape,
                                       Session& session);

/// A new array on the host, of `kind`; its elements are unspecified.
[[nodiscard]] nb::object new_on_host(Kind kind, Type type, const ShapeOut& shape);

/// What the caller gets of an array that is filled, the caller's or a new one: its first `length` entries, of
/// `kind` where it is new.
[[nodiscard]] nb::object finished(Kind kind, const ArrayIn& array, std::int64_t length);

/// Whether work on arrays of this kind goes on after the call: their memory is ordered by stream.
[[nodiscard]] inline bool is_ordered_by_stream(Kind kind)
{
    return kind == Kind::torch || kind == Kind::cupy;
}

/// The stream on which the framework of `array` queues its work at this moment.
[[nodiscard]] std::uintptr_t current_stream(const ArrayIn& array);

void bind_device_array(nb::module_& module);

}  // namespace segfold::python
