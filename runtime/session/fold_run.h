#pragma once
// The request for a fold of a workload, and its outcome; internal.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/plan_request.h"
#include "runtime/session/validation.h"
#include "runtime/support/run_times.h"

namespace segfold {

class SessionCore;

/// Options of a fold; internal.
struct FoldWishes {
    /// The number of slices; 0 for a fold without slices. At most the number of elements in segments is used.
    std::int64_t num_slices = 0;
    /// The requested plan. If there are slices, it is for the segments inside slices.
    PlanRequest plan = {};
    std::string without_records = {};  ///< reason not to use tuning records; empty if they are used
    bool check = false;                ///< true if the results must be compared with the reference and Thrust
    /// Called with the choice. Without slices it is called before the fold, with slices after it.
    std::function<void(const Chosen&)> on_choice = {};
    std::function<void()> on_check = {};  ///< called before the comparison
    /// Tells the user, in messages, how to request a fold without slices. If empty, messages name the
    /// program's flags.
    std::string one_piece = {};
};

/// The results of a fold, and how it was run.
struct FoldRun {
    Results results;  ///< results of the fold, with the segments' keys if the layout is `keys`
    Chosen chosen;    ///< the choice; if there are slices, for the segments inside slices
    RunTimes times;   ///< sums over all devices
    std::optional<Validation> validation;
    std::vector<Law> doubtful_laws = {};  ///< refuted laws on which a checked fold relied
};

/// Cuts the elements into slices, folds each slice on one of the devices, and joins the slices in order.
///
/// Defined in runtime/scale, which uses this folder. Throws like Session::fold(), and InputError for an
/// operator that cannot be folded in slices.
[[nodiscard]] FoldRun fold_in_slices(std::span<SessionCore* const> devices, const Workload& workload,
                                     const FoldWishes& wishes);

}  // namespace segfold
