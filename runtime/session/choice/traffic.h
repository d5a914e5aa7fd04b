#pragma once
// Compulsory bytes: the bytes that any program must move to fold given segments.
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Bytes that must be read or written at least once.
struct Traffic {
    std::int64_t columns = 0;  ///< bytes of the columns that lift reads
    /// Bytes of the arrays that describe segments. They are offsets, begins and offsets, flags, or the keys
    /// of elements and of runs.
    std::int64_t layout = 0;
    std::int64_t results = 0;  ///< bytes of the results
    /// Replaces `layout` for a peer library that folds by key. Such a library reads a key for each element,
    /// and writes a key for each run of equal keys.
    std::int64_t keys = 0;

    [[nodiscard]] std::int64_t total() const { return columns + layout + results; }
    [[nodiscard]] std::int64_t total_by_key() const { return columns + keys + results; }
};

/// Returns the compulsory bytes of a fold.
///
/// Counts no tables, because the data decide how much of a table is read and how much comes from caches. The
/// share of the read ceiling is therefore never overestimated. Counts no columns that lift does not read. For
/// ranges, counts each element that lies in a range once. `read_as` is the form to which the segments were
/// converted before the fold, if any.
[[nodiscard]] Traffic compulsory_traffic(const Operator& op, const Segments& segments,
                                         std::int64_t num_features = 1,
                                         std::optional<SegmentForm> read_as = {});

/// Returns Traffic::layout of segments in the given form, such as offsets that were made from keys.
[[nodiscard]] std::int64_t layout_bytes(SegmentForm form, std::int64_t num_elements,
                                        std::int64_t num_segments, int index_bits,
                                        std::int64_t key_bytes = 0);

}  // namespace segfold
