#pragma once
// Laws tried on a workload's own elements.
#include "dsl/laws/data/element_trial.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The first of some neighbouring elements, spread over the data, for which combine is not associative.
///
/// `op` is the workload's operator, perhaps with another lift. Takes microseconds.
[[nodiscard]] std::optional<CounterExample> differing_neighbours(const Operator& op,
                                                                 const Workload& workload);

/// Tries the identity on `elements`; of more than 2^20 on so many, spread evenly. All threads work.
[[nodiscard]] TriedElements try_identity(const Workload& workload, Elements elements);

/// Tries an identity that no search refutes on some elements, in tens of microseconds for few and in the time
/// of a pass over many: on 1024 that are spread evenly, 2^16 where a column or a table has infinities or NaN,
/// and on those where a column is lowest or highest.
[[nodiscard]] TriedElements try_identity_on_some(const Operator& op, const std::vector<Array>& arrays,
                                                 std::int64_t num_elements, std::int64_t num_features,
                                                 Elements elements);

}  // namespace segfold
