#pragma once
// One stage over slices: segments inside by the stage, pieces of segments by it too where it can.
#include <functional>

#include "codegen/catalogue.h"
#include "runtime/session/scale/sliced.h"

namespace segfold::regress {

/// Folds a workload in slices by one stage. Pieces are one segment each, form whole: where the stage cannot
/// take that, the rule of thumb says which does. `configure` gives the configuration of either.
[[nodiscard]] Results run_sliced(const SliceDevice& device, const Workload& workload,
                                 const OperatorLaws& laws, const Catalogue& catalogue, const Stage& stage,
                                 std::int64_t num_slices,
                                 const std::function<Configuration(const Stage&, const Problem&)>& configure);

}  // namespace segfold::regress
