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

}  // namespace segfold
