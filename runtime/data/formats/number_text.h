#pragma once
// Numbers as a person writes them, and which of them a type holds.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "dsl/type.h"

namespace segfold {

/// A fraction in decimal digits, inf or nan, rounded to `Float`; nothing for another text.
///
/// A number that is too small for the type is 0 or a denormal; one that is too large is infinite.
template <class Float>
std::optional<Float> rounded_float(std::string_view text)
{
    Float number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size())
        return std::nullopt;
    if (error != std::errc::result_out_of_range)
        return error == std::errc() ? std::optional(number) : std::nullopt;
    const std::string ended(text);  // from_chars does not say to which side the number is out of range
    if constexpr (std::is_same_v<Float, float>)
        return std::strtof(ended.c_str(), nullptr);
    else
        return std::strtod(ended.c_str(), nullptr);
}

/// True for a text that rounded_float() makes infinite though it does not say so.
template <class Float>
bool is_too_large(std::string_view text)
{
    Float number{};
    const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
    const auto rounded = rounded_float<Float>(text);
    return error == std::errc::result_out_of_range && rounded && std::isinf(*rounded);
}

/// True if a finite number is finite in f16 or bf16 too, as it is rounded.
[[nodiscard]] bool is_finite_as(float number, Type type);

/// The finite numbers that a type holds: "0 to 255", "-65504 to 65504".
[[nodiscard]] std::string range_text(Type type);

}  // namespace segfold
