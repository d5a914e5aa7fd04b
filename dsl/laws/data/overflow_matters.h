#pragma once
// Finds values whose overflow can change a result.
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Returns the name of an operand's field in one word: "a.n", "b.n".
[[nodiscard]] std::string key_of(const Expression& field);

/// Finds the fields of a state whose overflow can change a result.
///
/// Sums, products, left shifts, bitwise operations, and conversions to a type that is no wider keep a wrapped
/// value right modulo 2^width. All other operations may give another result for a wrapped value.
class OverflowMatters {
public:
    explicit OverflowMatters(const Operator& op);

    /// For each field of the state: true if its overflow matters.
    [[nodiscard]] const std::vector<bool>& fields() const { return fields_; }

    /// True if overflow of argument `i` of `value` matters. `matters` tells whether overflow of `value`
    /// itself matters.
    [[nodiscard]] static bool of_argument(const Expression& value, std::size_t i, bool matters);

private:
    bool see(const Operator& op, const Block& block);

    std::vector<bool> fields_;
};

}  // namespace segfold
