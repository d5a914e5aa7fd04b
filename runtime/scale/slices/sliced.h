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
    std::int64_t num_slices = 1;       ///< reduced to the number of elements in segments if it is larger
    PlanRequest plan = {};             ///< the request for the segments inside slices
    std::string without_records = {};  ///< a reason not to use tuning records; empty: records are used
    /// True if cuts divide all segments; `plan` then concerns the pieces. fold_sliced() sets this by itself.
    bool has_pieces_alone = false;
};

/// The result of a fold in slices.
struct Sliced {
    /// Results of all segments; the layout keys adds the segments' keys.
    Results results;
    std::optional<PlanChoice> plan;               ///< empty for a back end without stages
    std::optional<std::string> without_identity;  ///< if plans do not use the identity, the reason
    std::vector<std::string> warnings;            ///< warnings about the operator's laws
    RunTimes times;                               ///< sums over all devices
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

/// Folds a workload on devices that need no Session. `problem.typical` need not be filled.
[[nodiscard]] Sliced fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem,
                                 const Workload& workload, std::int64_t num_slices);

/// The problem of a session's fold in slices. The caller fills `typical` and `checked_tables`. The session
/// must outlive it.
[[nodiscard]] SliceProblem slice_problem(Session& session, const Operator& op, OperatorLaws laws,
                                         const SliceOptions& options);

/// The stage of reproducible plans: for one configuration, the order of combination within a segment depends
/// on the segment's length alone.
inline constexpr std::string_view kReproducibleStage = "warp_per_segment";

/// Makes the bits depend on the data alone: parts are joined in blocks of kJoinBlock elements, and plans are
/// of kReproducibleStage. The catalogue must outlive the problem.
void make_reproducible(SliceProblem& problem, const Catalogue& catalogue);

/// The session's back end as a device.
[[nodiscard]] SliceDevice slice_device(Session& session);

}  // namespace segfold
