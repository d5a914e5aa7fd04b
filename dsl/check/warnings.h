#pragma once
// Warnings about text that its author probably does not mean.
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Returns one message for each comparison with the constant `nan`. Such a comparison has the same outcome
/// for all data. Messages have place, excerpt and remedy, and follow the order of the parts.
///
///     late.seg:3:10: 'x != nan' is always true: NaN compares unequal to everything, to itself too
///           lift x != nan ? x : 0
///                  ^^  write !isnan(x)
std::vector<std::string> warnings(const Operator& op);

}  // namespace segfold
