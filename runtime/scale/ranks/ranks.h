#pragma once
// Folds a stream with several processes. Each process folds a share, then all processes exchange partials
// without results.
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/scale/ranks/communicator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Results of the segments that end in a rank's share, in order.
struct RankResults {
    /// Results of the first `num_kept` segments; with the segments' keys if the layout is `keys`.
    Results results;
    std::int64_t num_segments = 0;  ///< number of segments that end in the share
    std::int64_t num_kept = 0;      ///< number of segments whose results `results` has
    /// Lengths of the first segments, at most RankOptions::most_lengths.
    std::vector<std::int64_t> lengths = {};
    std::int64_t num_elements = 0;  ///< number of elements of the share
    Results running = {};  ///< running results of the first elements: one array for each output of a scan
};

/// Bounds on the results that a rank keeps.
struct RankOptions {
    std::int64_t most_kept = 0;     ///< most segments whose results are kept
    std::int64_t most_lengths = 0;  ///< most segments whose lengths are kept
    std::int64_t most_running = 0;  ///< most elements whose running results are kept
};

/// Folds this rank's share of a stream: an equal part of the elements. Collective.
///
/// A rank keeps its results in its memory. A segment belongs to the rank in whose share it ends. Partials are
/// always joined in the order of ranks. With a reproducible plan the bits are the same for any number of
/// ranks. For running results a rank reads its share twice: first to compute the states from which later
/// ranks continue their scans, then to scan. Throws InputError if the number of elements is not known.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, const RankOptions& options);

/// Folds the given share of a stream on this rank. The shares of all ranks, in order, must cover the stream.
/// Collective.
[[nodiscard]] RankResults fold_share(Communicator& ranks, Stream& stream, Stream::Share share,
                                     const RankOptions& options);

/// Sends the results of all ranks to rank 0, which passes them to its `take` in the order of segments.
/// Collective.
void gather_at_first(Communicator& ranks, const Operator& op, RankResults&& mine,
                     const std::function<void(RankResults&& results)>& take);

}  // namespace segfold
