#pragma once
// The sizes of a workload's segments by which a plan is chosen.
#include "codegen/catalogue.h"
#include "runtime/data/segments.h"

namespace segfold {

/// The sizes that a plan is chosen by. The longest segment is looked for only where that takes no time to
/// speak of.
[[nodiscard]] Shape shape_of(const Segments& segments);

}  // namespace segfold
