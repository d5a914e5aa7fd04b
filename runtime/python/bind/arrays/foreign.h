#pragma once
// Reads and checks descriptions of memory that other libraries provide.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/type.h"

namespace segfold::python {

namespace nb = nanobind;

/// Returns the integers of a tuple or list; nothing for any other object.
[[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_in(nb::handle sequence);

/// The contents of a `__cuda_array_interface__`.
struct CudaInterface {
    /// Reads the dictionary of an object. Throws InputError if the dictionary violates its specification, or
    /// if the array is masked.
    static CudaInterface of(nb::handle object, const std::string& what);

    /// Returns the element type; nothing if segfold lacks it.
    [[nodiscard]] std::optional<Type> type() const;

    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  ///< strides in bytes; empty for C order
    std::string typestr;                ///< element type, such as "<f4" or "|b1"
    bool is_bfloat16 = false;           ///< true if `typestr` is "<V2" and the object's dtype is bfloat16
    std::uintptr_t address = 0;
    bool is_read_only = false;
    std::uintptr_t stream = 0;
};

/// Checks a DLPack tensor before its memory is read. Returns true if the tensor is read-only.
///
/// Throws InputError if the object is not a capsule with a tensor, if the tensor's major version is not 1, or
/// if its sizes are missing.
[[nodiscard]] bool require_dlpack(nb::handle capsule, const std::string& what);

/// Returns the element type; nothing if segfold lacks it.
[[nodiscard]] std::optional<Type> type_of_dlpack(nb::dlpack::dtype dtype);

/// True if the error reports that a method does not accept an argument.
[[nodiscard]] bool is_of_arguments(const nb::python_error& error);

}  // namespace segfold::python
