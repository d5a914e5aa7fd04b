#pragma once
// Numbers as a person writes them, and which of them a type holds.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// A fraction in decimal digits, inf or nan, rounded once to a floating-point type; nothing for another text.
///
/// A number that is too small for the type is 0 or a denormal; one that is too large is infinite.
[[nodiscard]] std::optional<double> rounded_real(std::string_view text, Type type);

/// True for a number that rounded_real() makes infinite though it does not say so.
[[nodiscard]] bool is_too_large(std::string_view text, Type type);

/// True for digits behind a minus sign or none.
[[nodiscard]] bool is_whole_number(std::string_view text);

/// The bits of a number in `type`, in the low ones: of digits alone for an integer type, of what
/// rounded_real() reads for others. Nothing where the type does not hold it, and for another text.
[[nodiscard]] std::optional<std::uint64_t> bits_of_number(std::string_view text, Type type);

/// The finite numbers that a type holds: "0 to 255", "-65504 to 65504".
[[nodiscard]] std::string range_text(Type type);

}  // namespace segfold
