#pragma once
// The fold for a machine without a compiler: interprets byte code for a block of elements at a time, on all
// cores.
#include "runtime/data/workload.h"

namespace segfold::cpu {

/// Folds every segment into `results`, whose arrays must have room for all. `combine` must be associative.
///
/// Lifts many elements at a time and combines neighbours of a segment in pairs, in order. The pairs depend
/// only on the segments, so the result bits are the same with any number of threads. Throws InputError for
/// the first element that reads outside of a table.
void interpret(const Workload& workload, Results& results);

}  // namespace segfold::cpu
