#include "dsl/number_text.h"

#include <charconv>

namespace segfold {
namespace {

/// All of `digits` as an integer; `with_sign` allows one that is negative.
std::optional<std::int64_t> whole_integer(std::string_view digits, bool with_sign)
{
    std::int64_t number = 0;
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number);
    if (error != std::errc() || end != last || (!with_sign && digits.starts_with('-')))
        return std::nullopt;
    return number;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text)
{
    if (text.starts_with("2^")) {
        const auto exponent = whole_integer(text.substr(2), false);
        return exponent && *exponent < 63 ? std::optional(std::int64_t{1} << *exponent) : std::nullopt;
    }
    const auto mark = text.find('e');
    auto number = whole_integer(text.substr(0, mark), true);
    if (!number || mark == text.npos)
        return number;
    const auto exponent = whole_integer(text.substr(mark + 1), false);
    // More zeros than this fit no integer but 0, which needs none.
    if (!exponent || *exponent > 18)
        return std::nullopt;
    for (std::int64_t i = 0; i < *exponent; ++i)
        if (__builtin_mul_overflow(*number, 10, &*number))
            return std::nullopt;
    return number;
}

}  // namespace segfold
