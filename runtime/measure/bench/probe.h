#pragma once
// How long a stage takes at the very least, told without running it on all of the data.
#include <array>
#include <memory>
#include <string>

#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// Milliseconds of a plan on the first elements of arrays that are loaded, as few as `workload` has: the best
/// of two runs after one that loads its code.
[[nodiscard]] double milliseconds_of_prefix(Timing& timing, const Workload& workload,
                                            std::shared_ptr<const LoadedArrays> arrays, const PlanText& plan);

/// Lengths of the two segments that measure a stage's pace along a segment.
inline constexpr std::array<std::int64_t, 2> kProbedLengths = {std::int64_t{1} << 14, std::int64_t{1} << 18};

/// The pace: the extra time of the longer one, for each element.
[[nodiscard]] double pace_of(const std::array<double, 2>& milliseconds);

/// Milliseconds that the longest segment of the request alone takes the emitted stage; 0 if that cannot
/// matter.
///
/// Two single segments of 2^14 and 2^18 elements are timed. The extra time of the longer one, per element, is
/// the stage's pace along a segment: that of one thread, of one warp, or next to nothing if a segment is cut
/// into tiles. A kernel cannot be stopped, so a stage that would run for minutes must be known before it is
/// launched.
[[nodiscard]] double least_milliseconds(Timing& timing, const Emitted& emitted, const std::string& name,
                                        const LadderRequest& request);

}  // namespace segfold::bench
