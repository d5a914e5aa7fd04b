#pragma once
// Several operators in one pass over the same elements.
#include <map>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// One of the operators of a product, and the names of its results.
struct Factor {
    Operator op;
    std::string label =
        {};  ///< stands before the names of its results; empty: only before those that collide
    std::map<std::string, Expression> arguments = {};  ///< values of its parameters, in those of the product
    Position position = {};  ///< text that messages quote; parts of standard operators stand in other texts
};

/// The operator that folds to the results of all `factors`, in their order.
///
/// Parameters of one name are one parameter, and must be of one type. Fields and locals whose names collide
/// get their operator's name before theirs, as do results; a result without a name of its own is called as
/// its operator and keeps that name. A law holds where it holds for all. Where one factor has no identity the
/// product has none. Throws InputError.
Operator product(std::vector<Factor> factors);

/// product() of two operators: `mean_variance & argmax`. Where one is such a product itself, the result is
/// that of all their factors: `a & b & c` has the names that product() of the three gives.
Operator operator&(const Operator& left, const Operator& right);

}  // namespace segfold
