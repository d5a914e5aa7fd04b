#pragma once
// Control characters, which a terminal or a compiler interprets instead of showing them.
#include <string>
#include <string_view>

namespace segfold {

/// Bytes of the unshown character that `text` begins with; 0 where it begins with one that is shown.
///
/// Not shown are C0 (newline and tab among them), DEL, C1 (U+0080 to U+009F), the line and paragraph
/// separators U+2028 and U+2029, the controls of writing direction, and a byte that is not UTF-8.
std::size_t unshown_length(std::string_view text);

/// `text` with each unshown character as an escape: `\x1b` of a byte, `\u2028` of a longer sequence.
///
/// The result is one line of valid UTF-8 that a terminal only shows. Whatever comes from outside (a label, a
/// name of a file, a line of an operator's text) passes through here before a message quotes it.
std::string visible(std::string_view text);

}  // namespace segfold
