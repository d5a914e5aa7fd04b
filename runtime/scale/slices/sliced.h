#pragma once
// A workload folded slice by slice, on one device or on several of one host.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scale/slices/slice_fold.h"
#include "runtime/session/session.h"

namespace segfold {

/// Wishes for a fold in slices.
struct SliceOptions {
    std::int64_t num_slices = 1;       ///< at most as many as elements in segments are made
    PlanRequest plan = {};             ///< of the segments inside slices
    std::string without_records = {};  ///< the reason to use no tuning record; empty: records are used
    /// True if cuts divide all segments: `plan` is then of the pieces. fold_sliced() sets it itself.
    bool has_pieces_alone = false;
};

/// The result of a fold in slices.
struct Sliced {
    Results results;                              ///< of all segments, with the keys of the layout keys
    std::optional<PlanChoice> plan;               ///< nothing for a back end without stages
    std::optional<std::string> without_identity;  ///< the reason, if plans use no identity
    std::vector<std::string> warnings;            ///< of the laws
    RunTimes times;                               ///< of all devices together
};

/// Folds a workload slice by slice; slices are dealt to the devices, which run at the same time.
///
/// The results are those of a fold in one piece: the order of the elements is kept, whatever the operator is.
/// If combine() rounds, the last bits depend on the cuts; with PlanRequest::is_reproducible they depend on
/// the data alone, and are the same for any number of slices and of devices. All devices must have one back
/// end. Throws what Session::fold() throws, and InputError for rows of features, for write-back, for
/// operators that are not associative, and for a stage that has nothing to fold: if slices cut every segment,
/// the stage must take their pieces, which are whole segments.
[[nodiscard]] Sliced fold_sliced(std::span<Session* const> devices, const Workload& workload,
                                 const SliceOptions& options);
[[nodiscard]] Sliced fold_sliced(Session& session, const Workload& workload, const SliceOptions& options);

/// The same on other devices; `problem.typical` need not be filled.
[[nodiscard]] Sliced fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem,
                                 const Workload& workload, std::int64_t num_slices);

/// The problem of a session's fold in slices. The caller fills `typical` and `checked_tables`. The session
/// must outlive it.
[[nodiscard]] SliceProblem slice_problem(Session& session, const Operator& op, OperatorLaws laws,
                                         const SliceOptions& options);

/// The stage of reproducible plans: in one configuration, a segment's length alone decides its order.
inline constexpr std::string_view kReproducibleStage = "warp_per_segment";

/// Makes the bits depend on the data alone: parts are joined in blocks of kJoinBlock elements, and plans are
/// of kReproducibleStage. The catalogue must outlive the problem.
void make_reproducible(SliceProblem& problem, const Catalogue& catalogue);

/// The session's back end as a device.
[[nodiscard]] SliceDevice slice_device(Session& session);

}  // namespace segfold
