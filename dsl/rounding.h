#pragma once
// Numbers as a person writes them, rounded once, to nearest even, to the floating-point type that they take.
#include <cstdint>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// A number that a double need not hold: the nearest double, and on which side of it the number lies.
///
/// Rounding twice can go the wrong way only where the double lies in the middle of two numbers of a narrower
/// type; `rest` is 0 everywhere else.
struct NearReal {
    double real = 0;
    int rest = 0;  ///< -1: the number is less than `real`; 1: greater

    bool operator==(const NearReal&) const = default;
};

/// The number of decimal digits, with a point, an exponent and a sign or without, whose nearest double is
/// `real`.
[[nodiscard]] NearReal near_decimal(std::string_view decimal, double real);
/// The integer of this sign and magnitude.
[[nodiscard]] NearReal near_integer(bool negative, std::uint64_t magnitude);
/// `real`, of a number that lies on the side of it that the sign of `rest` says.
[[nodiscard]] NearReal near_real(double real, int rest);

/// The number of a floating-point type that is nearest; infinite for one that is too large.
[[nodiscard]] double round_to(Type type, NearReal number);

/// The bits of a number that `type` holds, in the low ones.
[[nodiscard]] std::uint64_t bits_of_real(Type type, double value);

}  // namespace segfold
