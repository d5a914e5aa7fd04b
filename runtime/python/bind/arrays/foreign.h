#pragma once
// What objects of other libraries say of the memory that they lend, looked at before it is believed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/type.h"

namespace segfold::python {

namespace nb = nanobind;

/// The integers of a tuple or a list; nothing for anything else.
[[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_in(nb::handle sequence);

/// The dictionary `__cuda_array_interface__`.
struct CudaInterface {
    /// Throws InputError for one that says something else than its specification has it, and for masked
    /// arrays.
    static CudaInterface of(nb::handle object, const std::string& what);

    /// None for one that the language lacks.
    [[nodiscard]] std::optional<Type> type() const;

    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  ///< in bytes; empty: C order
    std::string typestr;                ///< "<f4", "|b1"
    bool is_bfloat16 = false;           ///< two bytes without a type, which the object calls bfloat16
    std::uintptr_t address = 0;
    bool is_read_only = false;
    std::uintptr_t stream = 0;
};

/// Looks at a tensor of DLPack before it is read; true for one that may not be written.
///
/// Throws InputError for what is no capsule of a tensor, for one of another major version than 1, and for
/// sizes that are missing.
[[nodiscard]] bool require_dlpack(nb::handle capsule, const std::string& what);

/// None for one that the language lacks.
[[nodiscard]] std::optional<Type> type_of_dlpack(nb::dlpack::dtype dtype);

/// Whether a method was called with an argument that it does not know.
[[nodiscard]] bool is_of_arguments(const nb::python_error& error);

}  // namespace segfold::python
