#include "dsl/evaluation/interval.h"

#include <algorithm>
#include <optional>

namespace segfold {
namespace {

int width_of(Type type) { return type == Type::boolean ? 1 : static_cast<int>(size_bytes(type)) * 8; }

/// Returns the smallest interval that contains the values of `operation` at all pairs of interval ends.
/// `operation` must be monotonic in each operand. Returns none if a value overflows.
template <class Operation>
std::optional<Interval> around_corners(const Interval& left, const Interval& right, Operation operation)
{
    std::optional<Interval> around;
    for (const auto x : {left.low, left.high})
        for (const auto y : {right.low, right.high}) {
            WideInteger value = 0;
            if (operation(x, y, &value))
                return std::nullopt;
            around = around ? hull(*around, {value, value}) : Interval{value, value};
        }
    return around;
}

Interval product(Type type, const Interval& left, const Interval& right)
{
    const auto exact = around_corners(left, right, [](WideInteger x, WideInteger y, WideInteger* value) {
        return __builtin_mul_overflow(x, y, value);
    });
    return exact ? wrapped(type, *exact) : values_of(type);
}

/// Returns the range of x / y, if all values of y have the same sign.
Interval signed_quotient(const Interval& left, const Interval& right)
{
    if (right.is_empty())
        return {};
    return *around_corners(left, right, [](WideInteger x, WideInteger y, WideInteger* value) {
        *value = x / y;
        return false;
    });
}

Interval quotient(Type type, const Interval& left, const Interval& right)
{
    auto exact = hull(signed_quotient(left, meet(right, {1, values_of(Type::u64).high})),
                      signed_quotient(left, meet(right, {values_of(Type::i64).low, -1})));
    if (right.contains(0))
        exact = hull(exact, {0, 0});
    return wrapped(type, exact);
}

/// Returns the range of x % y. The value has the sign of x, is less than |y| and at most |x|. It is x if y is
/// 0 or if |y| > |x|.
Interval remainder(const Interval& left, const Interval& right)
{
    const auto absolute = [](WideInteger x) { return x < 0 ? -x : x; };
    const auto greatest = std::max(absolute(right.low), absolute(right.high));
    const auto least =
        right.low > 0 || right.high < 0 ? std::min(absolute(right.low), absolute(right.high)) : 0;
    const auto farthest = std::max(absolute(left.low), absolute(left.high));
    if (farthest < least || greatest == 0)
        return left;
    const Interval divided = {left.low < 0 ? std::max(left.low, 1 - greatest) : 0,
                              left.high > 0 ? std::min(left.high, greatest - 1) : 0};
    return right.contains(0) ? hull(divided, left) : divided;
}

/// Returns the least 2^k - 1 that is at least `value`. `value` must not be negative.
WideInteger all_ones(WideInteger value)
{
    WideInteger ones = 0;
    while (ones < value)
        ones = 2 * ones + 1;
    return ones;
}

Interval bits(std::string_view symbol, const Interval& left, const Interval& right)
{
    const auto sign_less = [](WideInteger x) { return x < 0 ? -(x + 1) : x; };
    const auto ones = all_ones(
        std::max({sign_less(left.low), sign_less(left.high), sign_less(right.low), sign_less(right.high)}));
    const bool is_left_positive = left.low >= 0, is_right_positive = right.low >= 0;
    if (symbol == "&" && is_left_positive && is_right_positive)
        return {0, std::min(left.high, right.high)};
    if (symbol == "&" && (is_left_positive || is_right_positive))
        return {0, is_left_positive ? left.high : right.high};
    if (is_left_positive && is_right_positive)
        return {symbol == "|" ? std::max(left.low, right.low) : 0, ones};
    return {-ones - 1, ones};
}

Interval shifted(std::string_view symbol, Type type, const Interval& left, const Interval& right)
{
    const int width = width_of(type);
    Interval count = {0, width - 1};
    if (right.is_within(count))
        count = right;
    else if (right.low == right.high)  // shift counts are taken modulo the width
        count.low = count.high = right.low & (width - 1);
    if (symbol == "<<") {
        const auto power = [](WideInteger exponent) { return WideInteger{1} << static_cast<int>(exponent); };
        return product(type, left, {power(count.low), power(count.high)});
    }
    return *around_corners(left, count, [](WideInteger x, WideInteger y, WideInteger* value) {
        *value = x >> static_cast<int>(y);
        return false;
    });
}

Interval truth(bool may_be_false, bool may_be_true) { return {may_be_false ? 0 : 1, may_be_true ? 1 : 0}; }

std::optional<Interval> compared(std::string_view symbol, const Interval& left, const Interval& right)
{
    const bool meets = !meet(left, right).is_empty();
    const bool is_one = left.low == left.high && left == right;
    if (symbol == "==")
        return truth(!is_one, meets);
    if (symbol == "!=")
        return truth(meets, !is_one);
    if (symbol == "<")
        return truth(left.high >= right.low, left.low < right.high);
    if (symbol == "<=")
        return truth(left.high > right.low, left.low <= right.high);
    if (symbol == ">")
        return compared("<", right, left);
    if (symbol == ">=")
        return compared("<=", right, left);
    return std::nullopt;
}

}  // namespace

Interval values_of(Type type)
{
    const int width = width_of(type);
    if (is_signed_integer(type))
        return {-(WideInteger{1} << (width - 1)), (WideInteger{1} << (width - 1)) - 1};
    return {0, (WideInteger{1} << width) - 1};
}

Interval hull(const Interval& left, const Interval& right)
{
    if (left.is_empty() || right.is_empty())
        return left.is_empty() ? right : left;
    return {std::min(left.low, right.low), std::max(left.high, right.high)};
}

Interval meet(const Interval& left, const Interval& right)
{
    return {std::max(left.low, right.low), std::min(left.high, right.high)};
}

Interval wrapped(Type type, const Interval& exact)
{
    const auto all = values_of(type);
    if (exact.is_within(all))
        return exact;
    if (type == Type::boolean)
        return {exact.contains(0) ? 0 : 1, 1};
    // Both ends must move by the same multiple of 2^width; otherwise the values split into two intervals.
    const auto size = all.high - all.low + 1;
    const auto turns = [&](WideInteger value) {
        const auto away = value - all.low;
        return away >= 0 ? away / size : -((size - 1 - away) / size);
    };
    const auto count = turns(exact.low);
    if (count != turns(exact.high))
        return all;
    return {exact.low - count * size, exact.high - count * size};
}

Interval binary_values(std::string_view symbol, Type type, const Interval& left, const Interval& right)
{
    if (left.is_empty() || right.is_empty())
        return {};
    if (const auto result = compared(symbol, left, right))
        return *result;
    if (symbol == "+")
        return wrapped(type, {left.low + right.low, left.high + right.high});
    if (symbol == "-")
        return wrapped(type, {left.low - right.high, left.high - right.low});
    if (symbol == "*")
        return product(type, left, right);
    if (symbol == "/")
        return quotient(type, left, right);
    if (symbol == "%")
        return remainder(left, right);
    if (symbol == "&" || symbol == "|" || symbol == "^")
        return meet(bits(symbol, left, right), values_of(type));
    if (symbol == "<<" || symbol == ">>")
        return shifted(symbol, type, left, right);
    return values_of(type);
}

Interval unary_values(std::string_view symbol, Type type, const Interval& argument)
{
    if (argument.is_empty())
        return {};
    if (symbol == "-")
        return wrapped(type, {-argument.high, -argument.low});
    if (symbol == "~")
        return wrapped(type, {-1 - argument.high, -1 - argument.low});
    return {1 - argument.high, 1 - argument.low};
}

Interval function_values(std::string_view function, Type type, const Interval& left, const Interval& right)
{
    if (left.is_empty())
        return {};
    const bool is_pair = function == "min" || function == "max";
    if (is_pair && right.is_empty())
        return {};
    if (function == "min")
        return {std::min(left.low, right.low), std::min(left.high, right.high)};
    if (function == "max")
        return {std::max(left.low, right.low), std::max(left.high, right.high)};
    if (function == "abs" && left.low < 0) {
        const Interval negated = {std::max<WideInteger>(-left.high, 0), -left.low};
        return wrapped(type, left.high > 0 ? hull(negated, {0, left.high}) : negated);
    }
    return function == "abs" ? left : Interval{0, width_of(type)};
}

}  // namespace segfold
