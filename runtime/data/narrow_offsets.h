#pragma once
// Offsets of 64 bits made into the indices of 32 that kernels read.
#include <cstdint>
#include <optional>

#include "dsl/array.h"

namespace segfold {

/// Offsets of 64 bits as indices of 32 in `room`, where it is large enough, on all cores and in one pass with
/// the checks of segments_from_offsets(). Nothing where one of these fails.
std::optional<Array> narrowed_offsets(const Array& offsets, std::int64_t num_elements, Array room);

}  // namespace segfold
