#pragma once
// Compulsory bytes: the bytes that any program which folds these segments must move.
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Bytes that must be read or written at least once.
struct Traffic {
    std::int64_t columns = 0;  ///< each column that lift reads
    /// Offsets; begins and offsets; flags; or keys of elements and of runs.
    std::int64_t layout = 0;
    std::int64_t results = 0;  ///< each result
    /// Bytes that a peer by key moves in place of `layout`: it reads a key for each element and writes one
    /// for each run.
    std::int64_t keys = 0;

    [[nodiscard]] std::int64_t total() const { return columns + layout + results; }
    [[nodiscard]] std::int64_t total_by_key() const { return columns + keys + results; }
};

/// The compulsory bytes of a fold.
///
/// Tables are not counted: the data decide how much of a table is read, and how much of that comes from
/// caches. The share of the ceiling is therefore never overestimated. A column that lift does not read is not
/// counted. Of ranges with gaps only the items inside count; an element in several ranges counts once.
/// `read_as` is the form to which the segments were converted before, if any.
[[nodiscard]] Traffic compulsory_traffic(const Operator& op, const Segments& segments,
                                         std::int64_t num_features = 1,
                                         std::optional<SegmentForm> read_as = {});

/// Traffic::layout of segments in a given form, such as the offsets to which keys were converted.
[[nodiscard]] std::int64_t layout_bytes(SegmentForm form, std::int64_t num_elements,
                                        std::int64_t num_segments, int index_bits,
                                        std::int64_t key_bytes = 0);

}  // namespace segfold
