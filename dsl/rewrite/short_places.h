#pragma once
// Places that a state keeps in 32 bits, for inputs with small indices.
#include "dsl/operator.h"

namespace segfold {

/// A checked `op` with some i64 fields kept in an i32, for inputs whose indices never exceed 2^31 - 2^27.
/// Results stay the same to the last bit.
///
/// These fields hold only places (`index`, `position`, `segment`), the limits of i64 and numbers, and that
/// `combine` copies, compares and selects by `? :`, `min` and `max`, but never calculates with. Limits of i64
/// become those of i32, which compare with places in the same way, and `finish` makes them those of i64
/// again. An operator without such fields stays as it is.
[[nodiscard]] Operator short_places(Operator op);

}  // namespace segfold
