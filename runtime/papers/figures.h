#pragma once
// Makes charts of a paper's experiments: bars for rungs, lines over sizes.
#include <vector>

#include "runtime/papers/marks.h"
#include "runtime/papers/page.h"

namespace segfold::papers {

/// Returns the charts of the experiments that have numbers, in their order.
///
/// A chart has bars, one group per row; or lines over sizes, if at least three experiments differ only in
/// size. Bar charts with the same rows and quantity have the same axis.
[[nodiscard]] std::vector<Chart> charts_of(const Paper& paper, const Experiments& experiments,
                                           const MeasuredPaper* measured);

}  // namespace segfold::papers
