#pragma once
// Folds a workload slice by slice, on one or several devices of a host.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scale/slices/slice_fold.h"
#include "runtime/session/core.h"

namespace segfold {

/// Folds a workload slice by slice. Devices work at the same time; a free device takes the next slice.
///
/// Operands are always combined in the order of the elements, so the results equal those of a fold in one
/// piece up to rounding. If combine() rounds, the last bits depend on the cuts. With a reproducible plan the
/// last bits depend only on the data, not on the number of slices or devices. `problem.typical` need not be
/// filled.
///
/// Running results take two passes. The first folds the pieces of segments that cuts divide. In the second,
/// each slice continues from the states of earlier slices. Throws InputError for rows of features and for
/// write-back.
[[nodiscard]] FoldRun fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem,
                                  const Workload& workload, std::int64_t num_slices);

/// Returns the problem of a session's fold in slices, which must not outlive the session. The caller sets
/// `typical` and `checked_tables`. `has_pieces_alone` is true if cuts divide all segments; the requested plan
/// then folds the pieces. Throws SpecError for an operator that is not associative.
[[nodiscard]] SliceProblem slice_problem(SessionCore& session, const Operator& op, OperatorLaws laws,
                                         const FoldWishes& wishes, bool has_pieces_alone);

/// The stage of reproducible plans. In a fixed configuration, the stage's order of combination within a
/// segment depends only on the segment's length.
inline constexpr std::string_view kReproducibleStage = "warp_per_segment";

/// Makes the bits of results depend only on the data. Parts are joined in blocks of kJoinBlock elements, and
/// all plans have kReproducibleStage. `catalogue` must outlive `problem`.
void make_reproducible(SliceProblem& problem, const Catalogue& catalogue);

/// Returns the session's back end as a device.
[[nodiscard]] SliceDevice slice_device(SessionCore& session);

}  // namespace segfold
