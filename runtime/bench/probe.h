#pragma once
// How long a stage takes at the very least, told without running it on all of the data.
#include <string>

#include "runtime/bench/ladder.h"

namespace segfold::bench {

/// Milliseconds that the longest segment of the request alone takes the emitted stage; 0 where that cannot
/// matter.
///
/// Two single segments of 2^14 and 2^18 elements are timed; what the longer one takes more, per element, is
/// the stage's pace along a segment: that of one thread, of one warp, or next to nothing where a segment is
/// cut into tiles. Nothing else tells a stage that would run for minutes from one that takes a millisecond,
/// as a kernel cannot be stopped.
[[nodiscard]] double least_milliseconds(Bench& bench, const Emitted& emitted, const std::string& name,
                                        const LadderRequest& request);

}  // namespace segfold::bench
