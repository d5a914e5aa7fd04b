#pragma once
// Rounds decimal numbers once, to nearest even, to a floating-point type.
#include <cstdint>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// A number, given by the nearest double and the side of this double on which the number lies.
///
/// The side decides the rounding to a narrower type only if the double lies midway between two numbers of
/// that type. `rest` is 0 in all other cases.
struct NearReal {
    double real = 0;
    int rest = 0;  ///< -1: the number is less than `real`; 1: greater; 0: equal, or the side does not matter

    bool operator==(const NearReal&) const = default;
};

/// Reads a decimal number: digits with an optional point, exponent and sign. `real` must be the nearest
/// double.
[[nodiscard]] NearReal near_decimal(std::string_view decimal, double real);
/// Returns the integer with this sign and magnitude.
[[nodiscard]] NearReal near_integer(bool negative, std::uint64_t magnitude);
/// Returns a number just below `real` if `rest` is negative, just above it if `rest` is positive.
[[nodiscard]] NearReal near_real(double real, int rest);

/// Returns the nearest number of a floating-point type; infinity if the number is too large.
[[nodiscard]] double round_to(Type type, NearReal number);

/// Returns the bits of `value` as a `type`, in the low bits of the result. `type` must hold the value
/// exactly.
[[nodiscard]] std::uint64_t bits_of_real(Type type, double value);

}  // namespace segfold
