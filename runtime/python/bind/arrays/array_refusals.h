#pragma once
// What is said of arrays that are not taken.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// "pandas.core.series.Series"
[[nodiscard]] std::string class_name(nb::handle object);

/// Throws InputError: "'x' WHY".
[[noreturn]] void refuse(const std::string& what, const std::string& why);

/// Throws InputError for elements of a type that is not folded, with a way out where there is one.
[[noreturn]] void refuse_elements(const std::string& what, std::string_view elements);

/// Throws InputError for a shape of more elements than there can be: who lends memory may say any.
void require_countable(const std::string& what, std::span<const std::int64_t> sizes);

/// Throws InputError for what is no array, with a way out where there is one.
[[noreturn]] void refuse_no_array(nb::handle object, const std::string& what);

/// Throws InputError for a tensor of torch whose elements do not lie in memory as those of others do.
[[noreturn]] void refuse_strange_tensor(nb::handle tensor, const std::string& what);

/// Throws InputError for an array of other dimensions than `holds` says; `object` is what the caller gave.
void require_dimensions(const std::string& what, Holds holds, std::span<const std::int64_t> sizes,
                        nb::handle object);

/// Throws InputError for elements that do not lie side by side, in C order; `strides` in bytes.
void require_no_gaps(const std::string& what, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, std::int64_t item_bytes, Access access);

/// Throws InputError for arrays of pandas in which values are missing.
void require_no_missing_values(nb::handle object, const std::string& what);

}  // namespace segfold::python
