#pragma once
// Python strings of attribute names that every call looks up, made once.
#include <nanobind/nanobind.h>

#include <string>

#include "dsl/error.h"

namespace segfold::python {

/// Interned strings. They live until the process ends.
struct Names {
    nanobind::str arrow_c_array, arrow_c_stream, cpu, cuda_array_interface, data_ptr, device, dlpack, dtype,
        get_device, is_contiguous, is_cpu, is_cuda, is_neg, ndim, new_empty, requires_grad, shape;
};

[[nodiscard]] const Names& names();

/// Returns `str(object)`.
[[nodiscard]] std::string text_of(nanobind::handle object);

/// Returns the error as text, such as "BufferError: memory is not lent".
[[nodiscard]] std::string text_of(const nanobind::python_error& error);

/// Raises `error` as an exception that is both an InputError and an AttributeError. `hasattr`, and `getattr`
/// with a default, expect an AttributeError.
[[noreturn]] void raise_open_type(const InputError& error);

/// Raises a CheckError, which reports wrong results.
[[noreturn]] void raise_check(const std::string& message);

}  // namespace segfold::python
