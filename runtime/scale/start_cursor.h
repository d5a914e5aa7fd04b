#pragma once
// A cursor for segments whose ends show only when the next segment begins: flags, keys, and one whole segment
// of unknown length.
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// Makes a cursor that finds the end of a segment when the next segment begins or the elements end. The first
/// segment of a window may therefore end at the begin of the window.
[[nodiscard]] std::unique_ptr<SegmentCursor> start_cursor(SegmentSource source,
                                                          std::optional<std::int64_t> num_elements);

}  // namespace segfold
