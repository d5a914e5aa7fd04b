#pragma once
// Sums of single bytes in 32 bits, which devices add four at a time.
#include "dsl/operator.h"

namespace segfold {

/// The column of i8 or u8 that a checked operator sums in its one field of i32 or u32; null where `lift` or
/// `combine` does anything else.
///
/// The lift is the element, converted, and combine is `a + b`.
const Parameter* summed_bytes(const Operator& op);

/// A checked `op`, with joined_lift() as its `append` if it sums bytes and has none.
[[nodiscard]] Operator with_byte_append(Operator op);

}  // namespace segfold
