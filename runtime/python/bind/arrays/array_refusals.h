#pragma once
// What is said of arrays that are not taken.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace segfold::python {

namespace nb = nanobind;

/// "pandas.core.series.Series"
[[nodiscard]] std::string class_name(nb::handle object);

/// Throws InputError: "'x' WHY".
[[noreturn]] void refuse(const std::string& what, const std::string& why);

/// Throws InputError for elements of a type that is not folded, with a way out where there is one.
[[noreturn]] void refuse_elements(const std::string& what, std::string_view elements);

/// Throws InputError for a shape of more elements than there can be: who lends memory may say any.
void require_countable(const std::string& what, std::span<const std::int64_t> sizes);

/// Throws InputError for arrays of PyArrow and pandas in which values are missing.
void require_no_missing_values(nb::handle object, const std::string& what);

}  // namespace segfold::python
