#pragma once
// Tries laws on a workload's own elements.
#include "dsl/laws/data/element_trial.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Tries associativity on a few groups of neighbouring elements, which are spread over the data. Returns the
/// first counter-example; nothing if there is none.
///
/// `op` is the workload's operator, perhaps with another lift. The call takes microseconds.
[[nodiscard]] std::optional<CounterExample> differing_neighbours(const Operator& op,
                                                                 const Workload& workload);

/// Tries whether the identity leaves the states of the workload's elements unchanged. `elements` selects the
/// elements to try. If there are more than 2^20, tries 2^20 of them, spread evenly. Uses all threads.
[[nodiscard]] TriedElements try_identity(const Workload& workload, Elements elements);

/// Tries whether the identity leaves the states of some of the elements unchanged.
///
/// This is for an identity that no search has refuted. It tries 1024 elements that are spread evenly (2^16 if
/// a column or table has infinities or NaN), and the elements with the lowest and highest value of each
/// column. It takes tens of microseconds for few elements, and reads the data once for many.
[[nodiscard]] TriedElements try_identity_on_some(const Operator& op, const std::vector<Array>& arrays,
                                                 std::int64_t num_elements, std::int64_t num_features,
                                                 Elements elements);

}  // namespace segfold
