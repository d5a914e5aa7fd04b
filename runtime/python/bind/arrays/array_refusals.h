#pragma once
// Refusals of arrays that segfold does not take.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// Returns the qualified name of an object's class: "pandas.core.series.Series".
[[nodiscard]] std::string class_name(nb::handle object);

/// Throws InputError: "'x' WHY".
[[noreturn]] void refuse(const std::string& what, const std::string& why);

/// Throws InputError for elements of a type that is not folded, with advice if there is any.
[[noreturn]] void refuse_elements(const std::string& what, std::string_view elements);

/// Throws InputError if the product of `sizes`, which the lender states, is larger than any memory.
void require_countable(const std::string& what, std::span<const std::int64_t> sizes);

/// Throws InputError for an object that is not an array, with advice if there is any.
[[noreturn]] void refuse_no_array(nb::handle object, const std::string& what);

/// Throws InputError for a tensor of torch whose elements do not lie in ordinary memory.
[[noreturn]] void refuse_strange_tensor(nb::handle tensor, const std::string& what);

/// Throws InputError if an array has other dimensions than `holds`. `object` is the caller's argument.
void require_dimensions(const std::string& what, Holds holds, std::span<const std::int64_t> sizes,
                        nb::handle object);

/// Throws InputError unless elements lie side by side in C order. `strides` are in bytes.
void require_no_gaps(const std::string& what, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, std::int64_t item_bytes, Access access);

/// Throws InputError for an array of pandas with missing values.
void require_no_missing_values(nb::handle object, const std::string& what);

}  // namespace segfold::python
