#pragma once
// Narrows places (index, position, segment) in the state to 32 bits, for inputs whose indices fit.
#include "dsl/operator.h"

namespace segfold {

/// Returns a checked `op` whose states keep places in i32 instead of i64. Results are the same bit for bit if
/// no index of the input exceeds 2^31 - 2^27.
///
/// A field is narrowed if it holds only places (`index`, `position`, `segment`), limits of i64 and numbers.
/// `combine` may only copy it, compare it, and select it by `? :`, `min` or `max`. Limits of i64 become
/// limits of i32, which compare with places in the same way. `finish` turns them back. Returns an operator
/// without such fields unchanged.
[[nodiscard]] Operator short_places(Operator op);

}  // namespace segfold
