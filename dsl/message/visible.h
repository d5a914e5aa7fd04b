#pragma once
// Escapes control characters, because terminals and compilers act on them.
#include <string>
#include <string_view>

namespace segfold {

/// Returns the length in bytes of the first character of `text` if it must be escaped; else 0.
///
/// The characters to escape are C0 (with newline and tab), DEL, C1 (U+0080 to U+009F), the line and paragraph
/// separators U+2028 and U+2029, the controls of writing direction, and bytes that are not UTF-8.
std::size_t unshown_length(std::string_view text);

/// Returns `text` with escapes for control characters: `\x1b` for one byte, `\u2028` for longer characters.
///
/// The result is one line of valid UTF-8 that has no effect on a terminal. Every text from outside (a label,
/// a file name, a line of an operator) passes through here before a message quotes it.
std::string visible(std::string_view text);

}  // namespace segfold
