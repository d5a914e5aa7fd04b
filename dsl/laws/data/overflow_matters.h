#pragma once
// Whether it matters that a value wraps.
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// "a.n", "b.n": a field of an operand, as one word.
[[nodiscard]] std::string key_of(const Expression& field);

/// The fields of an operator whose values must not wrap.
///
/// Sums, products, shifts to the left and operations on single bits give of numbers that are right but for
/// multiples of 2^width another such; so do conversions to a type that is no wider. Anything else tells
/// wrapped values from right ones.
class OverflowMatters {
public:
    explicit OverflowMatters(const Operator& op);

    /// Of each field of the state.
    [[nodiscard]] const std::vector<bool>& fields() const { return fields_; }

    /// Of argument `i` of a value of which it `matters`.
    [[nodiscard]] static bool of_argument(const Expression& value, std::size_t i, bool matters);

private:
    bool see(const Operator& op, const Block& block);

    std::vector<bool> fields_;
};

}  // namespace segfold
