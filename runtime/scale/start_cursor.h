#pragma once
// Segments of which the begins are said, element by element: flags, keys, and one whole segment of unknown
// length.
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// A segment's end is known once the next one begins, or the elements end: a window may say that the open
/// segment ended where the window begins.
[[nodiscard]] std::unique_ptr<SegmentCursor> start_cursor(SegmentSource source,
                                                          std::optional<std::int64_t> num_elements);

}  // namespace segfold
