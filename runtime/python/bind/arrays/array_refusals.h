#pragma once
// Error messages for arrays that segfold refuses.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/python/bind/arrays/array_in.h"

namespace segfold::python {

/// Returns the qualified name of an object's class, such as "pandas.core.series.Series".
[[nodiscard]] std::string class_name(nb::handle object);

/// Throws InputError with the message "'WHAT' WHY", where WHAT is the name of an argument.
[[noreturn]] void refuse(const std::string& what, const std::string& why);

/// Throws InputError for elements of a type that segfold does not fold. The message gives advice if there is
/// any.
[[noreturn]] void refuse_elements(const std::string& what, std::string_view elements);

/// Throws InputError if the product of `sizes` is larger than any memory. The sizes come from another
/// library.
void require_countable(const std::string& what, std::span<const std::int64_t> sizes);

/// Throws InputError because an object is not an array. The message gives advice if there is any.
[[noreturn]] void refuse_no_array(nb::handle object, const std::string& what);

/// Throws InputError because a torch tensor has no ordinary memory.
[[noreturn]] void refuse_strange_tensor(nb::handle tensor, const std::string& what);

/// Throws InputError if the number of dimensions does not match `holds`. `object` is the caller's argument.
void require_dimensions(const std::string& what, Holds holds, std::span<const std::int64_t> sizes,
                        nb::handle object);

/// Throws InputError if elements are not contiguous in C order. `strides` are in bytes.
void require_no_gaps(const std::string& what, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, std::int64_t item_bytes, Access access);

/// Throws InputError if a pandas array has missing values.
void require_no_missing_values(nb::handle object, const std::string& what);

}  // namespace segfold::python
