#pragma once
// Breaks lines of emitted text that are too wide to read.
#include <string>
#include <string_view>

namespace segfold {

/// Width of emitted text, comment marks included.
inline constexpr std::size_t kWidestLine = 110;

/// Breaks lines wider than `width` before an operator or after a comma, at the place with the fewest open
/// parentheses. Text after a break is indented by four more blanks. A line that cannot be broken stays
/// unchanged.
std::string break_lines(std::string_view text, std::size_t width = kWidestLine);

/// Removes the first line from `text` and returns it without its newline.
std::string_view take_line(std::string_view& text);

}  // namespace segfold
