#pragma once
// Generates segments with random lengths.
#include <cstdint>

#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Draws lengths by the rule of a generated layout until they add up to `num_elements`. The last length is
/// cut to fit.
///
/// The same layout and number of elements give the same segments on any machine and with any number of
/// threads.
Segments generate_segments(const Layout& layout, std::int64_t num_elements);

}  // namespace segfold
