#pragma once
// Results of segments held against wide ones, within bounds that are measured on the segments.
#include "runtime/judge/compare.h"

namespace segfold {

/// Compares the results of a workload without a map; `wide` are those of reduce_widely(). What it is compared
/// against, the caller names.
[[nodiscard]] Comparison compare_within_bounds(const Workload& workload, const Bytecode& bytecode,
                                               const OperatorInputs& inputs, const WideResults& wide,
                                               const Results& actual, const JudgeOptions& options);

}  // namespace segfold
