#pragma once
// Estimates the least time that a stage takes, without running it on all data.
#include <array>
#include <memory>
#include <string>

#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// Times a plan on the first elements of loaded arrays, as many as `workload` has. Returns the best of two
/// runs in milliseconds, after one run that loads the code.
[[nodiscard]] double milliseconds_of_prefix(Timing& timing, const Workload& workload,
                                            std::shared_ptr<const LoadedArrays> arrays, const Emitted& text);

/// Lengths of the two segments that are timed to find a stage's pace.
inline constexpr std::array<std::int64_t, 2> kProbedLengths = {std::int64_t{1} << 14, std::int64_t{1} << 18};

/// Returns a stage's pace in milliseconds per element: difference of the two times / difference of the
/// lengths.
[[nodiscard]] double pace_of(const std::array<double, 2>& milliseconds);

/// Returns the milliseconds that the emitted stage would take for the request's longest segment alone; 0 if
/// this segment is too short to matter.
///
/// Times two single segments of 2^14 and 2^18 elements. The difference per element is the stage's pace along
/// a segment: the pace of one thread or of one warp, or almost nothing if the stage cuts segments into tiles.
/// A kernel cannot be stopped, so this is the only way to recognise a stage that would run for minutes.
[[nodiscard]] double least_milliseconds(Timing& timing, const Emitted& emitted, const LadderRequest& request);

}  // namespace segfold::bench
