#include "dsl/message/visible.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/message/source.h"

namespace segfold {
namespace {

/// Returns the code point of `letter`, a single valid UTF-8 sequence.
unsigned code_point(std::string_view letter)
{
    const auto first = static_cast<unsigned char>(letter[0]);
    if (letter.size() == 1)
        return first;
    unsigned code = first & (0xffu >> (letter.size() + 1));
    for (const char c : letter.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
    return code;
}

bool is_unshown(unsigned code)
{
    const auto within = [code](unsigned first, unsigned last) { return code >= first && code <= last; };
    const bool control = code < 0x20 || within(0x7f, 0x9f);
    const bool separator = within(0x2028, 0x2029);
    const bool direction =
        code == 0x061c || within(0x200e, 0x200f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
    return control || separator || direction;
}

}  // namespace

std::size_t unshown_length(std::string_view text)
{
    if (text.empty())
        return 0;
    const std::size_t length = utf8_length(text);
    if (length == 0)
        return 1;
    return is_unshown(code_point(text.substr(0, length))) ? length : 0;
}

std::string visible(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const std::size_t unshown = unshown_length(text);
        const std::size_t length = std::max(utf8_length(text), std::size_t{1});
        if (unshown == 0)
            result += text.substr(0, length);
        else if (unshown == 1)
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        else
            result += fmt::format("\\u{:04x}", code_point(text.substr(0, unshown)));
        text.remove_prefix(length);
    }
    return result;
}

}  // namespace segfold
