#pragma once
// The statement `use`, which makes one operator of several standard operators.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// The statement `use NAME(arguments) as LABEL`. Without arguments, parameters keep their names.
struct Use {
    std::string name;
    std::vector<Expression> arguments = {};
    bool has_arguments = false;
    std::string label = {};
    Position position = {};
};

/// Returns the product of the operators in `uses`, with the name and the parameters of `head`. Throws
/// PlacedError.
Operator product_of_uses(const Operator& head, const std::vector<Use>& uses);

}  // namespace segfold
