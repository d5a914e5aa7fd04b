#pragma once
// Reads short arrays that are written in place of a file name, such as "[1, 2.5, nan x 3]".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"

namespace segfold {

/// True if the text is an array and not the name of a file. An array begins with a bracket.
[[nodiscard]] bool is_written_array(std::string_view text);

/// Reads an array: values between brackets, separated by commas. "VALUE x COUNT" repeats a value.
///
/// A value is an integer, a power of integers (2^10), an integer with an exponent (1e3), a decimal fraction,
/// `inf`, `-inf`, `nan`, `true` or `false`. Throws InputError for any other text, for a value beyond `type`,
/// and for more than 2^20 values.
[[nodiscard]] Array read_written_array(const std::string& text, Type type);

/// Reads an array and chooses its type. It is i64 if all values are integers, u64 if one of the integers is
/// beyond i64, bool if a value is `true` or `false`, else f64.
[[nodiscard]] Array read_written_array(const std::string& text);

/// Reads a single number, written like a value of an array. Returns an array of one element, or nothing for
/// any other text. Throws InputError for a number beyond `type`.
[[nodiscard]] std::optional<Array> read_written_number(const std::string& text, Type type);

/// Joins written values into the text of an array. Three or more equal neighbours become "VALUE x COUNT".
[[nodiscard]] std::string written_array(const std::vector<std::string>& values);

}  // namespace segfold
