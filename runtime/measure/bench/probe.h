#pragma once
// Estimates a lower bound on a stage's time without running the stage on all data.
#include <array>
#include <memory>
#include <string>

#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// Times a plan on the first elements of the loaded arrays; `workload` says on how many. Makes one run to
/// load the code, then two timed runs. Returns the time of the faster one in milliseconds.
[[nodiscard]] double milliseconds_of_prefix(Timing& timing, const Workload& workload,
                                            std::shared_ptr<const LoadedArrays> arrays, const Emitted& text);

/// Lengths of the two segments that are timed to estimate a stage's pace.
inline constexpr std::array<std::int64_t, 2> kProbedLengths = {std::int64_t{1} << 14, std::int64_t{1} << 18};

/// Returns a stage's pace, in milliseconds per element. This is the difference between the two times, divided
/// by the difference between the two lengths.
[[nodiscard]] double pace_of(const std::array<double, 2>& milliseconds);

/// Returns the milliseconds that the emitted stage would need for the request's longest segment alone; 0 if
/// that segment is too short to matter.
///
/// The estimate is the stage's pace times the length. The pace is that of one thread or one warp, or nearly 0
/// if the stage cuts segments into tiles. Because a running kernel cannot be stopped, only such an estimate
/// reveals a stage that would run for minutes.
[[nodiscard]] double least_milliseconds(Timing& timing, const Emitted& emitted, const LadderRequest& request);

}  // namespace segfold::bench
