#pragma once
// Counts that a state keeps in 32 bits, for inputs of fewer than 2^31 elements.
#include "dsl/operator.h"

namespace segfold {

/// A checked `op` with some i64 fields kept in an i32, for inputs of fewer than 2^31 elements. Results stay
/// the same to the last bit.
///
/// These fields are certain to lie between zero and the number of elements that a state covers. `lift` gives
/// them 0 or 1; `combine` copies, adds and selects them by `? :`, `min` and `max`, so that no value counts an
/// element twice. They may be compared with each other and converted. An operator without such fields stays
/// as it is.
[[nodiscard]] Operator short_counts(Operator op);

}  // namespace segfold
