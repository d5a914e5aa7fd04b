#pragma once
// Reads numbers in the usual notation, and checks that a type holds them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// Reads a decimal fraction, inf or nan, rounded once to a floating-point type. Returns nothing for any other
/// text.
///
/// A number that is too small for the type gives 0 or a denormal; a number that is too large gives infinity.
[[nodiscard]] std::optional<double> rounded_real(std::string_view text, Type type);

/// True if rounded_real() gives infinity for a text other than `inf`.
[[nodiscard]] bool is_too_large(std::string_view text, Type type);

/// True if the text consists of digits, possibly after a minus sign.
[[nodiscard]] bool is_whole_number(std::string_view text);

/// Returns the bits of a number in `type`, in the low bits. For integer types the text must be digits; other
/// types take the texts of rounded_real(). Returns nothing for any other text, and for a number beyond the
/// type.
[[nodiscard]] std::optional<std::uint64_t> bits_of_number(std::string_view text, Type type);

/// Returns the range of a type's finite numbers as text, such as "0 to 255" or "-65504 to 65504".
[[nodiscard]] std::string range_text(Type type);

}  // namespace segfold
