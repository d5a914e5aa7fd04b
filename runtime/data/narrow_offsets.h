#pragma once
// Narrows offsets from 64 bits to the 32-bit indices that kernels read.
#include <cstdint>
#include <optional>

#include "dsl/array.h"

namespace segfold {

/// Writes 64-bit offsets as 32-bit indices into `room`, if it is large enough, on all cores. The same pass
/// makes the checks of segments_from_offsets(). None if a check fails.
std::optional<Array> narrowed_offsets(const Array& offsets, std::int64_t num_elements, Array room);

}  // namespace segfold
