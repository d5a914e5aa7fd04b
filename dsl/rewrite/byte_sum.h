#pragma once
// Finds sums of single bytes in 32 bits. Devices add four bytes at a time.
#include "dsl/operator.h"

namespace segfold {

/// Returns the column of i8 or u8 that a checked operator sums in its only field, an i32 or u32; null if the
/// operator does anything else.
///
/// The lift must be the converted element, and combine `a + b`.
const Parameter* summed_bytes(const Operator& op);

/// Returns a checked `op` with joined_lift() as its `append`, if it sums bytes and has no append. Any other
/// operator is returned unchanged.
[[nodiscard]] Operator with_byte_append(Operator op);

}  // namespace segfold
