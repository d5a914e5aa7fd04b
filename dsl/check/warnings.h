#pragma once
// Warnings of texts that their author can hardly mean.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// One message for each comparison with the constant `nan`, whose outcome is the same for all data; with
/// place, excerpt and cure, in the order of the parts. Empty for most operators.
///
///     late.seg:3:10: 'x != nan' is always true: NaN compares unequal to everything, to itself too
///           lift x != nan ? x : 0
///                  ^^  write !isnan(x)
std::vector<std::string> warnings(const Operator& op);

}  // namespace segfold
