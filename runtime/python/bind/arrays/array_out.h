#pragma once
// Creates results as arrays of the caller's library.
#include <array>
#include <memory>

#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/session/folded.h"

namespace segfold {
class Session;
}

namespace segfold::python {

/// The shape of a returned array.
struct ShapeOut {
    std::int64_t length = 0;        ///< number of entries: numbers or rows
    std::int64_t num_features = 0;  ///< length of a row; 0 if the array has one dimension

    [[nodiscard]] std::size_t dimensions() const { return num_features == 0 ? 1 : 2; }
    [[nodiscard]] Holds holds() const { return num_features == 0 ? Holds::numbers : Holds::rows; }
    /// Return the shape as a Python tuple, and as sizes for DLPack.
    [[nodiscard]] nb::tuple tuple() const;
    [[nodiscard]] std::array<std::size_t, 2> sizes() const;
    bool operator==(const ShapeOut&) const = default;
};

/// Returns an array of `kind` that uses host memory owned by `owner`, without a copy. If the library would
/// narrow the type, as JAX does without jax_enable_x64, warns and returns a NumPy array.
[[nodiscard]] nb::object host_array(Kind kind, const Array& array,
                                    const std::shared_ptr<const Folded>& owner);

/// Creates an array of the library of `model`, on the same GPU. Its elements are not initialised.
[[nodiscard]] nb::object new_on_device(const ArrayIn& model, Type type, const ShapeOut& shape,
                                       Session& session);

/// Creates an array of `kind` on the host. Its elements are not initialised.
[[nodiscard]] nb::object new_on_host(Kind kind, Type type, const ShapeOut& shape);

/// Returns the first `length` entries of a filled array. If the array was created here, not by the caller,
/// converts it to an array of `kind`.
[[nodiscard]] nb::object finished(Kind kind, const ArrayIn& array, std::int64_t length);

/// True if work on arrays of this kind may continue after the call, because the library orders work by
/// streams.
[[nodiscard]] inline bool is_ordered_by_stream(Kind kind)
{
    return kind == Kind::torch || kind == Kind::cupy;
}

/// Returns the stream on which the library of `array` currently queues work.
[[nodiscard]] std::uintptr_t current_stream(const ArrayIn& array);

void bind_device_array(nb::module_& module);

}  // namespace segfold::python
