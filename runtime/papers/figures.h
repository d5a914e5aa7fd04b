#pragma once
// A paper's experiments as charts: bars for rungs, lines over sizes.
#include <vector>

#include "runtime/papers/marks.h"
#include "runtime/papers/page.h"

namespace segfold::papers {

/// The charts of the experiments that have numbers, in their order: bars, a group for each row, or lines over
/// sizes where at least three experiments differ in nothing else. Bars of the same rows and quantity have the
/// same axis.
[[nodiscard]] std::vector<Chart> charts_of(const Paper& paper, const Experiments& experiments,
                                           const MeasuredPaper* measured);

}  // namespace segfold::papers
