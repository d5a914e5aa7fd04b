#pragma once
// The sizes of a workload's segments by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/segments.h"

namespace segfold {

/// The sizes that a plan is chosen by. The longest segment is looked for only where that takes no time to
/// speak of.
[[nodiscard]] Shape shape_of(const Segments& segments);

/// Whether shape_of() looks for the longest of so many segments.
[[nodiscard]] bool is_looked_at(std::int64_t num_segments);

}  // namespace segfold
