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
    /// The number of slices; 0 for a fold in one piece. There are at most as many slices as elements in
    /// segments.
    std::int64_t num_slices = 0;
    /// Requested plan; if the fold is cut into slices, for segments inside slices.
    PlanRequest plan = {};
    std::string without_records = {};  ///< the reason to use no tuning record; empty if records are used
    bool check = false;                ///< true if the results must be compared with the reference and Thrust
    /// Called with the choice: before a fold in one piece, after a fold in slices.
    std::function<void(const Chosen&)> on_choice = {};
    std::function<void()> on_check = {};  ///< called before the comparison
    /// Text for messages on how to request a fold in one piece. If empty, messages name the program's flags.
    std::string one_piece = {};
};

/// The results of a fold, and how it was run.
struct FoldRun {
    Results results;  ///< the fold's results; if the layout is `keys`, with the segments' keys
    Chosen chosen;    ///< if the fold was cut into slices: the choice for segments inside slices
    RunTimes times;   ///< sums over all devices
    std::optional<Validation> validation;
    std::vector<Law> doubtful_laws = {};  ///< refuted laws that a checked fold relied on
};

/// Cuts the elements into slices, folds each slice alone on one of the devices, and joins the slices in
/// order.
///
/// Defined in runtime/scale, which uses this folder. Throws the errors of Session::fold(), and InputError for
/// an operator that cannot be folded in slices.
[[nodiscard]] FoldRun fold_in_slices(std::span<SessionCore* const> devices, const Workload& workload,
                                     const FoldWishes& wishes);

}  // namespace segfold
