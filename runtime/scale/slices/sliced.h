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

/// How a workload is sliced.
struct SliceOptions {
    std::int64_t num_slices = 1;       ///< no more are made than there are elements in segments
    PlanRequest plan = {};             ///< of the segments that lie inside slices
    std::string without_records = {};  ///< why no tuning record is asked; empty: they are
    /// No segment lies inside a slice but one that is given as whole: `plan` is of the pieces then.
    /// fold_sliced() finds out by itself.
    bool has_pieces_alone = false;
};

/// What folding slices gave.
struct Sliced {
    Results results;                              ///< of all segments, with the keys of the layout keys
    std::optional<PlanChoice> plan;               ///< nothing for a back end without stages
    std::optional<std::string> without_identity;  ///< why plans do without the identity, where they do
    std::vector<std::string> warnings;            ///< of the laws
    RunTimes times;                               ///< of all devices together
};

/// Folds a workload slice by slice; slices are dealt to the devices, which run at the same time.
///
/// Results are those of a fold in one piece: the order of the elements is kept, whatever the operator is.
/// Where combine() rounds, the order of combination follows from the cuts; with PlanRequest::is_reproducible
/// it follows from the data alone, and bits are the same for any number of slices and of devices. All
/// devices must be of one back end. Throws what Session::fold() throws, and InputError for rows of features,
/// write-back, operators that are not associative, and a stage that would fold nothing: where slices cut
/// every segment, it must take their pieces, which are whole segments.
[[nodiscard]] Sliced fold_sliced(std::span<Session* const> devices, const Workload& workload,
                                 const SliceOptions& options);
[[nodiscard]] Sliced fold_sliced(Session& session, const Workload& workload, const SliceOptions& options);

/// The same on devices that are no sessions; `problem.typical` need not be filled.
[[nodiscard]] Sliced fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem,
                                 const Workload& workload, std::int64_t num_slices);

/// What a session knows of a problem whose slices it folds; `typical` and `checked_tables` are the caller's
/// to fill. The session must outlive it.
[[nodiscard]] SliceProblem slice_problem(Session& session, const Operator& op, OperatorLaws laws,
                                         const SliceOptions& options);

/// The stage whose order within a segment follows from the segment's length alone, in one configuration.
inline constexpr std::string_view kReproducibleStage = "warp_per_segment";

/// Lets the bits follow from the data alone: parts are joined as blocks of kJoinBlock elements, and plans are
/// of kReproducibleStage. The catalogue must outlive the problem.
void make_reproducible(SliceProblem& problem, const Catalogue& catalogue);

/// The session's back end as a device.
[[nodiscard]] SliceDevice slice_device(Session& session);

}  // namespace segfold
