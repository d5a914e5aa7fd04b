#pragma once
// Ranges of integers: bounds the value of an operation by the ranges of its operands.
#include <cstdint>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// Holds the exact sum, and nearly always the product, of two integers of any type of the language.
__extension__ typedef __int128 WideInteger;

/// The integers from `low` to `high`, both included; empty if low > high. A bool is 0 or 1.
struct Interval {
    WideInteger low = 0;
    WideInteger high = -1;

    [[nodiscard]] bool is_empty() const { return low > high; }
    [[nodiscard]] bool contains(WideInteger value) const { return low <= value && value <= high; }
    /// True if `other` contains every integer of this interval.
    [[nodiscard]] bool is_within(const Interval& other) const
    {
        return is_empty() || (other.low <= low && high <= other.high);
    }
    bool operator==(const Interval&) const = default;
};

/// All values of an integer type or of bool.
[[nodiscard]] Interval values_of(Type type);

/// The smallest interval that contains both.
[[nodiscard]] Interval hull(const Interval& left, const Interval& right);

/// The integers in both.
[[nodiscard]] Interval meet(const Interval& left, const Interval& right);

/// Values of the integers after conversion to `type`. Integer types wrap; bool maps every value but 0 to 1.
[[nodiscard]] Interval wrapped(Type type, const Interval& exact);

/// Range of `left SYMBOL right` for operands of type `type`: arithmetic, bits, shifts, comparisons.
///
/// The interval contains every possible value, and may contain others.
[[nodiscard]] Interval binary_values(std::string_view symbol, Type type, const Interval& left,
                                     const Interval& right);

/// Range of `SYMBOL argument`.
[[nodiscard]] Interval unary_values(std::string_view symbol, Type type, const Interval& argument);

/// Range of a function of integers: min, max, abs, popcount, clz. Only min and max use `right`.
[[nodiscard]] Interval function_values(std::string_view function, Type type, const Interval& left,
                                       const Interval& right);

}  // namespace segfold
