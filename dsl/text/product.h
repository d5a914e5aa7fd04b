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
    std::string label = {};  ///< prefix of its results' names; empty: a prefix only if names collide
    std::map<std::string, Expression> arguments =
        {};                  ///< its parameters as expressions of the product's parameters
    Position position = {};  ///< place for messages in the product's text
};

/// Returns one operator that computes the results of all `factors`, in their order.
///
/// Parameters of the same name are one parameter and must have one type. Colliding fields, locals and results
/// get their operator's name as a prefix. A result without a name takes its operator's name. A law holds if
/// it holds for all factors. If one factor has no identity, the product has none. Throws InputError for no
/// factor, for one that cannot be part of a product, and if parameters of one name differ in type.
Operator product(std::vector<Factor> factors);

/// product() of two operators: `mean_variance & argmax`. If an operand is itself a product, its factors join
/// the new one: `a & b & c` has the same names as product() of the three.
Operator operator&(const Operator& left, const Operator& right);

}  // namespace segfold
