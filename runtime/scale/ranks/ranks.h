#pragma once
// A stream folded by several processes: each folds a share, and border states are all that folding exchanges.
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/scale/ranks/communicator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// The results of the segments that end in a rank's share, in their order.
struct RankResults {
    Results results;                ///< of the first `num_kept` segments, with keys for the layout keys
    std::int64_t num_segments = 0;  ///< that end in the share
    std::int64_t num_kept = 0;      ///< of which results are kept
    std::vector<std::int64_t> lengths = {};  ///< of the first segments
};

/// What a rank keeps of its results.
struct RankOptions {
    std::int64_t most_kept = 0;     ///< segments with results
    std::int64_t most_lengths = 0;  ///< segments with lengths
};

/// Folds this rank's share of a stream: an equal part of the elements. Collective.
///
/// Results are kept in this rank's memory. A segment belongs to the rank in which it ends. Border states are
/// joined in the order of ranks, whatever the operator is; with a reproducible plan the bits are the same for
/// any number of ranks. Throws InputError where the number of elements is not known.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, const RankOptions& options);

/// The same of a share of the caller's: those of all ranks follow each other and cover the stream.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, Stream::Share share,
                                     const RankOptions& options);

/// Hands the results of all ranks to `take` of rank 0, in the order of segments. Collective.
void gather_at_first(Communicator& ranks, const Operator& op, RankResults&& mine,
                     const std::function<void(RankResults&& results)>& take);

}  // namespace segfold
