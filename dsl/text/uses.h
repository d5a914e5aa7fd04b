#pragma once
// `use` in a text: an operator made of standard ones.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

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

}  // namespace segfold
