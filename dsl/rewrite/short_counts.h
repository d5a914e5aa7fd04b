#pragma once
// Counts that a state keeps in 32 bits, where no input has more elements than that.
#include "dsl/operator.h"

namespace segfold {

/// A checked `op` whose states keep in an i32 what its text keeps in an i64, for inputs whose elements are
/// fewer than 2^31. Results stay as they are, to the last bit.
///
/// That is done to fields of which it is certain that they are never below zero and never above the number of
/// elements that a state covers. `lift` gives them 0 or 1; `combine` copies, adds and selects them by `? :`,
/// `min` and `max`, so that no value counts an element twice. They may be compared with each other and
/// converted. An operator without such fields stays as it is.
[[nodiscard]] Operator short_counts(Operator op);

}  // namespace segfold
