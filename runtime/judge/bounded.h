#pragma once
// Compares the results of segments with results in wide precision. The bounds are measured on each segment.
#include "runtime/judge/compare.h"

namespace segfold {

/// Compares results with `wide`, the results of reduce_widely(). The workload must have no outputs.
///
/// Leaves `Comparison::against` empty; the caller must set it.
[[nodiscard]] Comparison compare_within_bounds(const Workload& workload, const Bytecode& bytecode,
                                               const OperatorInputs& inputs, const WideResults& wide,
                                               const Results& actual, const JudgeOptions& options);

}  // namespace segfold
