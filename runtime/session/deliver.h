#pragma once
// Writes results of a fold into the caller's memory.
#include <cstdint>
#include <span>

#include "dsl/operator.h"
#include "runtime/data/array_view.h"
#include "runtime/data/segments.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Sizes of a fold's results.
struct FoldSizes {
    const Operator& op;
    std::int64_t num_segments, num_elements, num_features;
};

/// Writes results, and the keys and the number of found segments, to the caller's memory.
///
/// Throws InputError before it writes anything if an array has another type or is too short, or if two of the
/// arrays share memory. An input array of the fold may receive results, because all elements have been read.
void deliver(const Results& results, const FoldSizes& sizes, const Segments& found,
             const SegmentsView& segments, std::span<const MutableArrayView> into);

}  // namespace segfold
