#pragma once
// Tries laws on a workload's own elements.
#include "dsl/laws/data/element_trial.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Tries associativity on a few groups of neighbouring elements, spread over the data. Returns the first
/// counter-example.
///
/// `op` is the workload's operator, perhaps with another lift. Takes microseconds.
[[nodiscard]] std::optional<CounterExample> differing_neighbours(const Operator& op,
                                                                 const Workload& workload);

/// Tries the identity on `elements`; if there are more than 2^20, on 2^20 of them, spread evenly. Uses all
/// threads.
[[nodiscard]] TriedElements try_identity(const Workload& workload, Elements elements);

/// Tries an identity on some elements, after no search has refuted it.
///
/// These are 1024 elements that are spread evenly (2^16 if a column or table has infinities or NaN), and the
/// elements where a column is lowest or highest. Takes tens of microseconds for few elements, and one pass
/// over the data for many.
[[nodiscard]] TriedElements try_identity_on_some(const Operator& op, const std::vector<Array>& arrays,
                                                 std::int64_t num_elements, std::int64_t num_features,
                                                 Elements elements);

}  // namespace segfold
