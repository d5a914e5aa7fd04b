#pragma once
// Folds without a compiler. Interprets an operator's byte code on all cores, a block of elements at a time.
#include "runtime/data/workload.h"

namespace segfold::cpu {

/// Folds every segment and stores the results in `results`, which must have an entry for every segment.
/// `combine` must be associative.
///
/// Lifts many elements at a time, then combines neighbours of the same segment in pairs, in order. The pairs
/// depend only on the segments, so the bits of results do not depend on the number of threads. Throws
/// InputError for the first element that reads past the end of a table.
void interpret(const Workload& workload, Results& results);

}  // namespace segfold::cpu
