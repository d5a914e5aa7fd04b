#pragma once
// Breaks lines of emitted text that are too wide to read.
#include <string>
#include <string_view>

namespace segfold {

/// Width of emitted text, comment marks included.
inline constexpr std::size_t kWidestLine = 110;

/// The lines of `text`, those wider than `width` broken where the fewest parentheses are open: before an
/// operator or after a comma. What follows a break is indented by four more. A line without such a place
/// stays as it is.
std::string break_lines(std::string_view text, std::size_t width = kWidestLine);

/// Takes the first line off `text` and returns it without its line end.
std::string_view take_line(std::string_view& text);

}  // namespace segfold
