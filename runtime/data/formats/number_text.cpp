#include "runtime/data/formats/number_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "dsl/laws/elements.h"
#include "dsl/rounding.h"

namespace segfold {

namespace {

/// Parses the whole text as a C++ number, rounded once; nothing if it is not a number.
template <class Number>
std::optional<Number> read_number(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument)
        return std::nullopt;
    if (error == std::errc())
        return number;
    if constexpr (std::is_floating_point_v<Number>)  // the number is too large or too small
        return static_cast<Number>(std::strtod(std::string(text).c_str(), nullptr));
    return std::nullopt;
}

}  // namespace

std::optional<double> rounded_real(std::string_view text, Type type)
{
    if (type == Type::f32)
        return read_number<float>(text);
    const auto number = read_number<double>(text);
    return number ? std::optional(round_to(type, near_decimal(text, *number))) : std::nullopt;
}

bool is_too_large(std::string_view text, Type type)
{
    const auto number = rounded_real(text, type);
    return number && std::isinf(*number) && text.find_first_of("0123456789") != text.npos;
}

bool is_whole_number(std::string_view text)
{
    if (text.starts_with('-'))
        text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::optional<std::uint64_t> bits_of_number(std::string_view text, Type type)
{
    if (is_float(type)) {
        const auto number = rounded_real(text, type);
        const bool is_lost = number && std::isinf(*number) && text.find_first_of("0123456789") != text.npos;
        return number && !is_lost ? std::optional(bits_of_real(type, *number)) : std::nullopt;
    }
    if (is_unsigned_integer(type)) {
        const bool is_zero = text.starts_with('-') && text.find_first_not_of("0", 1) == text.npos;
        const auto number = read_number<std::uint64_t>(is_zero ? "0" : text);
        return number && *number <= highest_integer(type) ? number : std::nullopt;
    }
    const auto number = read_number<std::int64_t>(text);
    const bool fits = number && *number <= static_cast<std::int64_t>(highest_integer(type)) &&
                      *number >= static_cast<std::int64_t>(lowest_integer(type));
    return fits ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::string range_text(Type type)
{
    if (type == Type::f64)
        return fmt::format("{} to {}", -highest_float(type), highest_float(type));
    if (is_float(type)) {
        const auto highest = static_cast<float>(highest_float(type));
        return fmt::format("{} to {}", -highest, highest);
    }
    if (is_signed_integer(type))
        return fmt::format("{} to {}", static_cast<std::int64_t>(lowest_integer(type)),
                           static_cast<std::int64_t>(highest_integer(type)));
    return fmt::format("{} to {}", lowest_integer(type), highest_integer(type));
}

}  // namespace segfold
