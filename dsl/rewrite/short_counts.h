#pragma once
// Narrows counts in the state to 32 bits, for inputs with fewer than 2^31 elements.
#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` whose states keep counts in i32 instead of i64. Results are the same bit for bit if
/// the input has fewer than 2^31 elements.
///
/// A field is narrowed if it is known to be at least 0 and at most the number of elements in a state. `lift`
/// sets it to 0 or 1. `combine` copies and adds it, selects it by `? :`, `min` or `max`, and never counts an
/// element twice. Such fields may be compared with each other and converted. An operator without such fields
/// is returned unchanged.
[[nodiscard]] Operator short_counts(Operator op);

}  // namespace segfold
