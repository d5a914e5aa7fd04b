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

/// Lengths of the two segments by which a stage's pace along a segment is told.
inline constexpr std::array<std::int64_t, 2> kProbedLengths = {std::int64_t{1} << 14, std::int64_t{1} << 18};

/// The pace: what the longer of them takes more, for each element.
[[nodiscard]] double pace_of(const std::array<double, 2>& milliseconds);

/// Milliseconds that the longest segment of the request alone takes the emitted stage; 0 where that cannot
/// matter.
///
/// Two single segments of 2^14 and 2^18 elements are timed; what the longer one takes more, per element, is
/// the stage's pace along a segment: that of one thread, of one warp, or next to nothing where a segment is
/// cut into tiles. Nothing else tells a stage that would run for minutes from one that takes a millisecond,
/// as a kernel cannot be stopped.
[[nodiscard]] double least_milliseconds(Timing& timing, const Emitted& emitted, const std::string& name,
                                        const LadderRequest& request);

}  // namespace segfold::bench
