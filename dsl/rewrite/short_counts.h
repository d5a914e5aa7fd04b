#pragma once
// Narrows counts in the state to 32 bits, for inputs with fewer than 2^31 elements.
#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` whose states keep counts in i32 instead of i64. Results are the same bit for bit if
/// the input has fewer than 2^31 elements.
///
/// A field is narrowed if its value certainly lies between 0 and the number of elements in the state. `lift`
/// must set the field to 0 or 1. `combine` may copy and add it, select it by `? :`, `min` or `max`, but must
/// not count an element twice. Such fields may be compared with each other and converted. Returns an operator
/// without such fields unchanged.
[[nodiscard]] Operator short_counts(Operator op);

}  // namespace segfold
