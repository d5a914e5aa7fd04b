#include "dsl/rounding.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "dsl/half.h"

namespace segfold {
namespace {

/// Largest number of significant decimal digits that a double may have.
constexpr int kMostDigits = 767;

/// A magnitude 0.DIGITS * 10^exponent. The first and the last digit are not 0.
struct Decimal {
    std::string digits;
    std::int64_t exponent = 0;
};

Decimal decimal_of(std::string_view text)
{
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    Decimal decimal;
    bool behind_point = false;
    const auto letter = text.find_first_of("eE");
    for (const char c : text.substr(0, letter)) {
        behind_point = behind_point || c == '.';
        if (c < '0' || c > '9')
            continue;
        decimal.digits += c;
        decimal.exponent += behind_point ? 0 : 1;
    }
    if (letter != text.npos) {
        auto power = text.substr(letter + 1);
        if (power.starts_with('+'))
            power.remove_prefix(1);
        std::int64_t exponent = 0;
        if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc())
            exponent = power.starts_with('-') ? -kFar : kFar;
        decimal.exponent += exponent;
    }
    const auto zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
    decimal.digits.erase(0, zeros);
    decimal.exponent -= static_cast<std::int64_t>(zeros);
    decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
    return decimal;
}

/// Returns -1, 0 or 1 if `left` is less than, equal to or greater than `right`.
int compare(const Decimal& left, const Decimal& right)
{
    if (left.digits.empty() || right.digits.empty())
        return static_cast<int>(!left.digits.empty()) - static_cast<int>(!right.digits.empty());
    if (left.exponent != right.exponent)
        return left.exponent < right.exponent ? -1 : 1;
    const int order = left.digits.compare(right.digits);
    return (order > 0) - (order < 0);
}

/// Returns `value` if its last bit is 1 or `rest` is 0, else its neighbour in the direction of `rest`.
/// Rounding the returned number to fewer bits gives the same value as rounding the exact number.
template <class Float, class Bits>
Float to_odd(Float value, int rest)
{
    if (rest == 0 || (std::bit_cast<Bits>(value) & 1) != 0)
        return value;
    const auto end = std::numeric_limits<Float>::infinity();
    return std::nextafter(value, rest < 0 ? -end : end);
}

double round_all(Type type, double real, int rest)
{
    if (type == Type::f64)
        return real;
    const auto odd = to_odd<double, std::uint64_t>(real, rest);
    auto single = static_cast<float>(odd);
    if (type == Type::f32)
        return single;
    const auto back = static_cast<double>(single);
    single = to_odd<float, std::uint32_t>(single, (odd > back) - (odd < back));
    return type == Type::f16 ? f16_to_f32(f32_to_f16(single)) : bf16_to_f32(f32_to_bf16(single));
}

bool is_in_the_middle(double real)
{
    for (const Type type : {Type::f32, Type::f16, Type::bf16})
        if (round_all(type, real, -1) != round_all(type, real, 1))
            return true;
    return false;
}

}  // namespace

NearReal near_real(double real, int rest)
{
    return {real, rest != 0 && std::isfinite(real) && is_in_the_middle(real) ? rest : 0};
}

NearReal near_decimal(std::string_view decimal, double real)
{
    if (!std::isfinite(real) || !is_in_the_middle(real))
        return {real, 0};
    char digits[kMostDigits + 16];
    const auto end = std::to_chars(digits, digits + sizeof digits, std::fabs(real),
                                   std::chars_format::scientific, kMostDigits - 1);
    const int rest = compare(decimal_of(decimal), decimal_of({digits, end.ptr}));
    return {real, std::signbit(real) ? -rest : rest};
}

NearReal near_integer(bool negative, std::uint64_t magnitude)
{
    const auto real = static_cast<double>(magnitude);
    // The magnitude is below 2^64, but `real` may round up to 2^64.
    const auto back = real < 0x1p64 ? static_cast<std::uint64_t>(real) : ~std::uint64_t{0};
    const int rest = real < 0x1p64 ? (magnitude > back) - (magnitude < back) : -1;
    return negative ? near_real(-real, -rest) : near_real(real, rest);
}

std::uint64_t bits_of_real(Type type, double value)
{
    const auto single = static_cast<float>(value);
    switch (type) {
        case Type::f16: return f32_to_f16(single);
        case Type::bf16: return f32_to_bf16(single);
        case Type::f32: return std::bit_cast<std::uint32_t>(single);
        default: return std::bit_cast<std::uint64_t>(value);
    }
}

double round_to(Type type, NearReal number) { return round_all(type, number.real, number.rest); }

}  // namespace segfold
