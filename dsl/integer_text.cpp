#include "dsl/integer_text.h"

#include <charconv>
#include <string>

namespace segfold {
namespace {

std::optional<std::int64_t> parse_decimal(std::string_view digits)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
    return number;
}

/// `factor` times `base` to the power of `exponent`, while it fits.
std::optional<std::int64_t> scale(std::int64_t factor, std::int64_t base, std::int64_t exponent)
{
    if (factor == 0 || base == 1)
        exponent = 0;
    for (; exponent > 0; --exponent)
        if (__builtin_mul_overflow(factor, base, &factor))
            return std::nullopt;
    return factor;
}

/// BASE^EXPONENT
std::optional<std::int64_t> parse_power(std::string_view text, std::size_t sign)
{
    const auto base = parse_decimal(text.substr(0, sign));
    const auto exponent = parse_decimal(text.substr(sign + 1));
    if (!base || !exponent || *base < 1 || *exponent < 0)
        return std::nullopt;
    return scale(1, *base, *exponent);
}

/// DIGITS[.DIGITS]e[+]EXPONENT, where no digit is left behind the point.
std::optional<std::int64_t> parse_exponent(std::string_view text, std::size_t letter)
{
    auto exponent_text = text.substr(letter + 1);
    if (exponent_text.starts_with('+'))
        exponent_text.remove_prefix(1);
    const auto exponent = parse_decimal(exponent_text);
    const auto mantissa = text.substr(0, letter);
    const auto point = mantissa.find('.');
    auto whole = std::string(mantissa.substr(0, point));
    auto fraction = point == std::string_view::npos ? std::string_view() : mantissa.substr(point + 1);
    while (fraction.ends_with('0'))
        fraction.remove_suffix(1);
    const auto digits = parse_decimal(whole.append(fraction));
    const auto places = static_cast<std::int64_t>(fraction.size());
    if (!exponent || !digits || point == 0 || *exponent < places)
        return std::nullopt;
    return scale(*digits, 10, *exponent - places);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text)
{
    if (const auto sign = text.find('^'); sign != std::string_view::npos)
        return parse_power(text, sign);
    if (const auto letter = text.find_first_of("eE"); letter != std::string_view::npos)
        return parse_exponent(text, letter);
    return parse_decimal(text);
}

}  // namespace segfold
