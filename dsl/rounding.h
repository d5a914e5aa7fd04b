#pragma once
// Rounds decimal numbers once, to nearest even, to a floating-point type.
#include <cstdint>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// A number: the nearest double and, if rounding needs it, the side of the double on which the number lies.
///
/// Rounding twice goes wrong only if the double lies midway between two numbers of a narrower type. `rest` is
/// 0 in all other cases.
struct NearReal {
    double real = 0;
    int rest = 0;  ///< -1: the number is less than `real`; 1: greater; 0: equal, or the side does not matter

    bool operator==(const NearReal&) const = default;
};

/// Reads digits, with or without a point, an exponent and a sign. `real` is the double nearest to `decimal`.
[[nodiscard]] NearReal near_decimal(std::string_view decimal, double real);
/// The integer with this sign and magnitude.
[[nodiscard]] NearReal near_integer(bool negative, std::uint64_t magnitude);
/// A number beside `real`: below it if `rest` is negative, above it if `rest` is positive.
[[nodiscard]] NearReal near_real(double real, int rest);

/// The nearest number of a floating-point type; infinity if the number is too large.
[[nodiscard]] double round_to(Type type, NearReal number);

/// The bits of `value` in the low bits of the result. `type` must hold the value.
[[nodiscard]] std::uint64_t bits_of_real(Type type, double value);

}  // namespace segfold
