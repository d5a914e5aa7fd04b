#pragma once
// How Session::fold() folds in slices. runtime/scale, which stands above this room, defines it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/plan_request.h"

namespace segfold {

class Session;

/// Results of all segments, the plan of those inside slices, and warnings of the laws.
struct FoldedSlices {
    Results results;
    std::optional<PlanChoice> plan;  ///< nothing for a back end without stages
    std::vector<std::string> warnings;
};

/// Cuts the elements into `num_slices`, folds each alone, and joins them in order. Throws what
/// Session::fold() throws, and InputError for an operator that cannot be folded in slices.
[[nodiscard]] FoldedSlices fold_in_slices(Session& session, const Workload& workload, std::int64_t num_slices,
                                          const PlanRequest& plan);

}  // namespace segfold
