#pragma once
// A stream folded by several processes. Each folds a share; the processes exchange their partials without
// results.
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/scale/ranks/communicator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Results of the segments that end in a rank's share, in order.
struct RankResults {
    /// Results of the first `num_kept` segments; the layout keys adds the segments' keys.
    Results results;
    std::int64_t num_segments = 0;           ///< segments that end in the share
    std::int64_t num_kept = 0;               ///< segments whose results are kept
    std::vector<std::int64_t> lengths = {};  ///< lengths of the first segments
    std::int64_t num_elements = 0;           ///< elements of the share
    Results running = {};  ///< running results of the first elements: an array for each output of a scan
};

/// Bounds on the results that a rank keeps.
struct RankOptions {
    std::int64_t most_kept = 0;     ///< segments whose results are kept
    std::int64_t most_lengths = 0;  ///< segments whose lengths are kept
    std::int64_t most_running = 0;  ///< elements whose running results are kept
};

/// Folds this rank's share of a stream: an equal part of the elements. Collective.
///
/// For running results a rank reads its share twice: before the scan, ranks exchange the states with which it
/// goes on.
/// A rank keeps its results in its memory. A segment belongs to the rank in which it ends. Partials are
/// joined in the order of ranks, whatever the operator is; with a reproducible plan the bits are the same for
/// any number of ranks. Throws InputError if the number of elements is not known.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, const RankOptions& options);

/// Folds the caller's share of a stream. The shares of all ranks, in order, must cover the stream.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, Stream::Share share,
                                     const RankOptions& options);

/// Sends the results of all ranks to rank 0, which passes them to its `take` in the order of segments.
/// Collective.
void gather_at_first(Communicator& ranks, const Operator& op, RankResults&& mine,
                     const std::function<void(RankResults&& results)>& take);

}  // namespace segfold
