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
    std::int64_t num_slices = 0;       ///< 0: one piece; never more slices than elements in segments
    PlanRequest plan = {};             ///< for slices: the plan of segments inside slices
    std::string without_records = {};  ///< the reason to use no tuning record; empty: records are used
    bool check = false;                ///< compare the results with the reference and Thrust
    /// Called with the choice: before a fold in one piece, after a fold in slices.
    std::function<void(const Chosen&)> on_choice = {};
    std::function<void()> on_check = {};  ///< called before the comparison
    /// Text for messages on how to request a fold in one piece; empty: the program's flags.
    std::string one_piece = {};
};

/// The results of a fold, and how it was run.
struct FoldRun {
    Results results;  ///< with the segments' keys for the layout keys
    Chosen chosen;    ///< with slices: the choice for segments inside slices
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
