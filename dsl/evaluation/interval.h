#pragma once
// Ranges of integers: the range of an operation from the ranges of its operands.
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// Holds the exact sum, and nearly always the product, of two integers of any type of the language.
__extension__ typedef __int128 WideInteger;

/// The integers from `low` to `high`, both included; none where `low` is the greater. A bool is 0 or 1.
struct Interval {
    WideInteger low = 0;
    WideInteger high = -1;

    [[nodiscard]] bool is_empty() const { return low > high; }
    [[nodiscard]] bool contains(WideInteger value) const { return low <= value && value <= high; }
    /// True where every integer of this one is in `other`.
    [[nodiscard]] bool is_within(const Interval& other) const
    {
        return is_empty() || (other.low <= low && high <= other.high);
    }
    bool operator==(const Interval&) const = default;
};

/// All values of an integer type or of bool.
[[nodiscard]] Interval values_of(Type type);

/// The smallest interval around both.
[[nodiscard]] Interval hull(const Interval& left, const Interval& right);

/// The integers that are in both.
[[nodiscard]] Interval meet(const Interval& left, const Interval& right);

/// The integers kept in `type`, which wraps; as bool, all but 0 become 1.
[[nodiscard]] Interval wrapped(Type type, const Interval& exact);

/// The values of `left SYMBOL right` where both operands are of `type`: arithmetic, bits, shifts,
/// comparisons.
///
/// Every value that the operation can give is in the interval; not every value in it need be possible.
[[nodiscard]] Interval binary_values(std::string_view symbol, Type type, const Interval& left,
                                     const Interval& right);

/// The values of `SYMBOL argument`.
[[nodiscard]] Interval unary_values(std::string_view symbol, Type type, const Interval& argument);

/// The values of a function of integers: min, max, abs, popcount, clz; `right` is of the first two alone.
[[nodiscard]] Interval function_values(std::string_view function, Type type, const Interval& left,
                                       const Interval& right);

}  // namespace segfold
