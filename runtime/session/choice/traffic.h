#pragma once
// Compulsory bytes: what any program that folds these segments has to move.
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Bytes that must be read or written at least once.
struct Traffic {
    std::int64_t columns = 0;  ///< each column that lift reads, once
    std::int64_t layout = 0;   ///< offsets, or begins and offsets, or flags, or keys and those of runs, once
    std::int64_t results = 0;  ///< each result, once
    std::int64_t keys =
        0;  ///< what a peer by key reads and writes in place of `layout`: a key an element and a run

    [[nodiscard]] std::int64_t total() const { return columns + layout + results; }
    [[nodiscard]] std::int64_t total_by_key() const { return columns + keys + results; }
};

/// The compulsory bytes of a fold.
///
/// Tables are not counted: how much of one is read, and how often from the caches, depends on the data, so
/// that the share of the ceiling is never flattered. A column that lift does not read is not counted either.
/// Ranges that leave gaps count the items in them, ranges that overlap each element once. `read_as` is the
/// form that the segments have been made into before, if any.
[[nodiscard]] Traffic compulsory_traffic(const Operator& op, const Segments& segments,
                                         std::int64_t num_features = 1,
                                         std::optional<SegmentForm> read_as = {});

/// Traffic::layout of segments in another form, as of the offsets that keys were made into.
[[nodiscard]] std::int64_t layout_bytes(SegmentForm form, std::int64_t num_elements,
                                        std::int64_t num_segments, int index_bits,
                                        std::int64_t key_bytes = 0);

}  // namespace segfold
