#pragma once
// Several operators in one pass over the same elements.
#include <map>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// One of the operators of a product, and what its results are called.
struct Factor {
    Operator op;
    std::string label =
        {};  ///< stands before the names of its results; empty: only before those that collide
    std::map<std::string, Expression> arguments =
        {};  ///< what its parameters stand for, in those of the product
};

/// The operator that folds to the results of all `factors`, in their order.
///
/// Parameters of one name are one parameter, and must be of one type. Fields and locals whose names collide
/// get their operator's name before theirs, as do results; a result without a name of its own is called as
/// its operator. A law holds where it holds for all. Where one factor has no identity the product has none.
/// Throws InputError.
Operator product(std::vector<Factor> factors);

/// `use NAME(arguments) as LABEL` of a text; without arguments the parameters of its own names.
struct Use {
    std::string name;
    std::vector<Expression> arguments = {};
    bool has_arguments = false;
    std::string label = {};
    Position position = {};
};

/// The operator that `head`, of which the name and the parameters count, makes of standard operators. Throws
/// PlacedError.
Operator product_of_uses(const Operator& head, const std::vector<Use>& uses);

/// product() of two operators: `mean_variance & argmax`.
Operator operator&(const Operator& left, const Operator& right);

}  // namespace segfold
