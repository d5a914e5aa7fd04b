#pragma once
// The fold of a machine without a compiler: byte code, a block of elements at a time, on all cores.
#include "runtime/data/workload.h"

namespace segfold::cpu {

/// Folds every segment into `results`, whose arrays have room for all of them. `combine` must be associative.
///
/// Elements are lifted many at a time and neighbours of a segment are combined in pairs, in order. The
/// segments alone decide where pairs begin, so any number of threads gives the same bits. Throws InputError
/// for the first element that reads past a table's end.
void interpret(const Workload& workload, Results& results);

}  // namespace segfold::cpu
