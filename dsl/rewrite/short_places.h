#pragma once
// Places that a state keeps in 32 bits, where no input has more elements than that.
#include "dsl/operator.h"

namespace segfold {

/// A checked `op` whose states keep in an i32 what its text keeps in an i64, for inputs whose indices never
/// exceed 2^31 - 2^27. Results stay as they are, to the last bit.
///
/// That is done to fields that hold nothing but places (`index`, `position`, `segment`), the limits of i64
/// and numbers, and that `combine` copies, compares and selects by `? :`, `min` and `max`, but never
/// calculates with. Limits of i64 become those of i32, which compare with places in the same way, and
/// `finish` makes them those of i64 again. An operator without such fields stays as it is.
[[nodiscard]] Operator short_places(Operator op);

}  // namespace segfold
