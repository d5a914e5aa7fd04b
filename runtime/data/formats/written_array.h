#pragma once
// Small arrays written out where a file could be named: "[1, 2.5, nan x 3]".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"

namespace segfold {

/// True for what begins with a bracket and is no file's name.
[[nodiscard]] bool is_written_array(std::string_view text);

/// Reads values between brackets, separated by commas; "VALUE x COUNT" stands for so many.
///
/// Values are integers, also as powers (2^10) or with an exponent (1e3), decimal fractions, `inf`, `-inf`,
/// `nan`, `true` and `false`. Throws InputError for what is none, for a value that `type` does not hold, and
/// for more than 2^20 values.
[[nodiscard]] Array read_written_array(const std::string& text, Type type);

/// The same as i64 where all values are integers, as u64 where one is beyond i64, as boolean where one is
/// `true` or `false`, else as f64.
[[nodiscard]] Array read_written_array(const std::string& text);

/// One number, written as those of an array are, in an array of one; nothing for another text. Throws
/// InputError for a number that `type` does not hold.
[[nodiscard]] std::optional<Array> read_written_number(const std::string& text, Type type);

/// The text of values that are written already; from three equal ones on, "VALUE x COUNT".
[[nodiscard]] std::string written_array(const std::vector<std::string>& values);

}  // namespace segfold
