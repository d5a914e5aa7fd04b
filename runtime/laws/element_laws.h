#pragma once
// Tries laws on the elements of a workload.
#include "dsl/laws/data/element_trial.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Tries associativity on a few groups of neighbouring elements from all parts of the data. Returns the first
/// counter-example; nothing if there is none.
///
/// `op` is the workload's operator, possibly with another lift. Takes microseconds.
[[nodiscard]] std::optional<CounterExample> differing_neighbours(const Operator& op,
                                                                 const Workload& workload);

/// Tries the identity on the states of the elements that `elements` selects. If there are more than 2^20,
/// tries 2^20 evenly spaced ones. Uses all threads.
[[nodiscard]] TriedElements try_identity(const Workload& workload, Elements elements);

/// Tries the identity on the states of some of the elements.
///
/// For an identity that no search has refuted. Tries 1024 evenly spaced elements (2^16 if a column or table
/// has infinities or NaN), and the elements with the lowest and highest value of each column. Takes tens of
/// microseconds for few elements; for many, about the time to read the data once.
[[nodiscard]] TriedElements try_identity_on_some(const Operator& op, const std::vector<Array>& arrays,
                                                 std::int64_t num_elements, std::int64_t num_features,
                                                 Elements elements);

}  // namespace segfold
