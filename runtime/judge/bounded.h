#pragma once
// Compares results of segments with results in wide precision, within bounds measured on each segment.
#include "runtime/judge/compare.h"

namespace segfold {

/// Compares the results of a workload without a map with `wide`, the results of reduce_widely().
///
/// Does not set `Comparison::against`; the caller must set it.
[[nodiscard]] Comparison compare_within_bounds(const Workload& workload, const Bytecode& bytecode,
                                               const OperatorInputs& inputs, const WideResults& wide,
                                               const Results& actual, const JudgeOptions& options);

}  // namespace segfold
