#include "dsl/integer_text.h"

#include <charconv>
#include <string>

namespace segfold {
namespace {

template <class Integer>
std::optional<Integer> parse_decimal(std::string_view digits)
{
    Integer number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
    return number;
}

/// Returns `factor` times `base` to the power of `exponent`; none if the value does not fit into `Integer`.
template <class Integer>
std::optional<Integer> scale(Integer factor, Integer base, std::int64_t exponent)
{
    if (factor == 0 || base == 1)
        exponent = 0;
    for (; exponent > 0; --exponent)
        if (__builtin_mul_overflow(factor, base, &factor))
            return std::nullopt;
    return factor;
}

/// Parses BASE^EXPONENT.
template <class Integer>
std::optional<Integer> parse_power(std::string_view text, std::size_t sign)
{
    const auto base = parse_decimal<Integer>(text.substr(0, sign));
    const auto exponent = parse_decimal<std::int64_t>(text.substr(sign + 1));
    if (!base || !exponent || *base < 1 || *exponent < 0)
        return std::nullopt;
    return scale(Integer{1}, *base, *exponent);
}

/// Parses DIGITS[.DIGITS]e[+]EXPONENT. None if the value is no integer.
template <class Integer>
std::optional<Integer> parse_exponent(std::string_view text, std::size_t letter)
{
    auto exponent_text = text.substr(letter + 1);
    if (exponent_text.starts_with('+'))
        exponent_text.remove_prefix(1);
    const auto exponent = parse_decimal<std::int64_t>(exponent_text);
    const auto mantissa = text.substr(0, letter);
    const auto point = mantissa.find('.');
    auto whole = std::string(mantissa.substr(0, point));
    auto fraction = point == std::string_view::npos ? std::string_view() : mantissa.substr(point + 1);
    while (fraction.ends_with('0'))
        fraction.remove_suffix(1);
    const auto digits = parse_decimal<Integer>(whole.append(fraction));
    const auto places = static_cast<std::int64_t>(fraction.size());
    if (!exponent || !digits || point == 0 || *exponent < places)
        return std::nullopt;
    return scale(*digits, Integer{10}, *exponent - places);
}

template <class Integer>
std::optional<Integer> parse_any(std::string_view text)
{
    if (const auto sign = text.find('^'); sign != std::string_view::npos)
        return parse_power<Integer>(text, sign);
    if (const auto letter = text.find_first_of("eE"); letter != std::string_view::npos)
        return parse_exponent<Integer>(text, letter);
    return parse_decimal<Integer>(text);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_any<std::int64_t>(text); }

std::optional<std::uint64_t> parse_unsigned_integer(std::string_view text)
{
    return parse_any<std::uint64_t>(text);
}

}  // namespace segfold
