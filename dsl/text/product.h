#pragma once
// Joins several operators into one, which folds them in one pass over the elements.
#include <map>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// One of the operators of a product, with names for its results.
struct Factor {
    Operator op;
    std::string label = {};  ///< prefix of the names of its results; empty: only colliding names get a prefix
    std::map<std::string, Expression> arguments =
        {};  ///< parameter of `op` -> the expression of the product's parameters that replaces it
    Position position = {};  ///< place for messages in the product's text
};

/// Returns one operator that computes the results of all `factors`, in their order.
///
/// Parameters of the same name are one parameter and must have one type. Colliding fields, locals and results
/// get their operator's name as a prefix. A result without a name takes its operator's name. The product
/// claims a law only if all factors claim it. If one factor has no identity, the product has none. Throws
/// InputError if there is no factor, if a factor cannot be part of a product, or if parameters of one name
/// differ in type.
Operator product(std::vector<Factor> factors);

/// product() of two operators: `mean_variance & argmax`. If an operand is itself a product, its factors join
/// the new one: `a & b & c` has the same names as product() of the three.
Operator operator&(const Operator& left, const Operator& right);

}  // namespace segfold
