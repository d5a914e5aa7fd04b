#pragma once
// A workload folded slice by slice, on one device or on several of one host.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scale/slices/slice_fold.h"
#include "runtime/session/core.h"

namespace segfold {

/// Folds a workload slice by slice; slices are dealt to the devices, which run at the same time.
///
/// The order of the elements is kept, whatever the operator is, so the results equal those of a fold in one
/// piece up to rounding. If combine() rounds, the last bits depend on the cuts; with a reproducible plan they
/// depend on the data alone, not on the number of slices or devices. `problem.typical` need not be filled.
///
/// Running results take two passes: the first folds the pieces of segments that cuts divide, so that each
/// slice then goes on from the states of the slices before it. Throws InputError for rows of features and for
/// write-back.
[[nodiscard]] FoldRun fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem,
                                  const Workload& workload, std::int64_t num_slices);

/// The problem of a session's fold in slices. The caller fills `typical` and `checked_tables`. The session
/// must outlive it. `has_pieces_alone` is true if cuts divide all segments; the requested plan is then the
/// plan of the pieces. Throws SpecError for an operator that is not associative.
[[nodiscard]] SliceProblem slice_problem(SessionCore& session, const Operator& op, OperatorLaws laws,
                                         const FoldWishes& wishes, bool has_pieces_alone);

/// The stage of reproducible plans: for one configuration, the order of combination within a segment depends
/// on the segment's length alone.
inline constexpr std::string_view kReproducibleStage = "warp_per_segment";

/// Makes the bits depend on the data alone: parts are joined in blocks of kJoinBlock elements, and plans are
/// of kReproducibleStage. The catalogue must outlive the problem.
void make_reproducible(SliceProblem& problem, const Catalogue& catalogue);

/// The session's back end as a device.
[[nodiscard]] SliceDevice slice_device(SessionCore& session);

}  // namespace segfold
