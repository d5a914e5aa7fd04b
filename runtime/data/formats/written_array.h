#pragma once
// Reads short arrays written out in place of a file name: "[1, 2.5, nan x 3]".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"

namespace segfold {

/// True if the text is an array, not the name of a file, because it begins with a bracket.
[[nodiscard]] bool is_written_array(std::string_view text);

/// Reads the values between brackets, separated by commas. "VALUE x COUNT" repeats a value.
///
/// A value is an integer, also as a power (2^10) or with an exponent (1e3), a decimal fraction, `inf`,
/// `-inf`, `nan`, `true` or `false`. Throws InputError for any other text, for a value beyond `type`, and for
/// more than 2^20 values.
[[nodiscard]] Array read_written_array(const std::string& text, Type type);

/// Reads an array and chooses its type: i64 if all values are integers, u64 if one of them is beyond i64,
/// bool if a value is `true` or `false`, else f64.
[[nodiscard]] Array read_written_array(const std::string& text);

/// Reads a single number, written like a value of an array, and returns an array of one element. Returns none
/// for any other text. Throws InputError for a number beyond `type`.
[[nodiscard]] std::optional<Array> read_written_number(const std::string& text, Type type);

/// Joins written values into the text of an array. Three or more equal neighbours become "VALUE x COUNT".
[[nodiscard]] std::string written_array(const std::vector<std::string>& values);

}  // namespace segfold
