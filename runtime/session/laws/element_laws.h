#pragma once
// Laws tried on a workload's own elements.
#include "dsl/laws/element_trial.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The first of some neighbouring elements, spread over the data, for which combine is not associative.
///
/// `op` is the workload's operator, or that with another lift. Takes microseconds.
[[nodiscard]] std::optional<CounterExample> differing_neighbours(const Operator& op,
                                                                 const Workload& workload);

/// Tries the identity on all elements, and on 2^20 that are spread evenly where there are more; on finite
/// ones alone where that is asked for. All threads work.
[[nodiscard]] TriedElements try_identity(const Workload& workload, bool finite_alone);

}  // namespace segfold
