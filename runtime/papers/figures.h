#pragma once
// Makes charts of a paper's experiments: bars for rungs, lines over sizes.
#include "runtime/papers/marks.h"
#include "runtime/support/json_value.h"

namespace segfold::papers {

/// Returns charts as Vega-Lite specifications, for the experiments that have numbers, in their order. Throws
/// InputError, whose message begins with `asked_by`, if no experiment has numbers.
///
/// A rung has a bar for its published number and, if `measured` has the rung, a bar for its measurement. If
/// at least three experiments differ only in size, they are drawn as lines over sizes instead. Bar charts
/// with the same rows and quantity have the same axis.
[[nodiscard]] std::vector<Json> charts_of(const Paper& paper, const Experiments& experiments,
                                          const MeasuredPaper* measured, std::string_view asked_by);

}  // namespace segfold::papers
