#pragma once
// Segments known by their begins: flags, keys, and one whole segment of unknown length.
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// A segment's end is known when the next segment begins or the elements end. So a window may say that the
/// open segment ended at the window's own begin.
[[nodiscard]] std::unique_ptr<SegmentCursor> start_cursor(SegmentSource source,
                                                          std::optional<std::int64_t> num_elements);

}  // namespace segfold
