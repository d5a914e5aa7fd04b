#pragma once
// Finds values whose overflow can change a result.
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Name of an operand's field in one word: "a.n", "b.n".
[[nodiscard]] std::string key_of(const Expression& field);

/// The fields of an operator whose values must not wrap.
///
/// Sums, products, left shifts and bitwise operations keep a value right modulo 2^width, and so do
/// conversions to a type that is no wider. All other operations tell wrapped values from right ones.
class OverflowMatters {
public:
    explicit OverflowMatters(const Operator& op);

    /// For each field of the state: true if its overflow matters.
    [[nodiscard]] const std::vector<bool>& fields() const { return fields_; }

    /// True if overflow of argument `i` matters, given whether overflow of the whole value `matters`.
    [[nodiscard]] static bool of_argument(const Expression& value, std::size_t i, bool matters);

private:
    bool see(const Operator& op, const Block& block);

    std::vector<bool> fields_;
};

}  // namespace segfold
