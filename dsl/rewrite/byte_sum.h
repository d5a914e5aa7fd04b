#pragma once
// Finds operators that sum single bytes in 32 bits. Devices can add four bytes at a time.
#include "dsl/operator.h"

namespace segfold {

/// Returns the column of i8 or u8 that a checked operator sums into its only field, an i32 or u32. Returns
/// null if the operator does anything else.
///
/// lift must be the converted element, and combine must be `a + b`.
const Parameter* summed_bytes(const Operator& op);

/// Returns a checked `op` with joined_lift() as its `append`, if it sums bytes and has no `append`. Returns
/// any other operator unchanged.
[[nodiscard]] Operator with_byte_append(Operator op);

}  // namespace segfold
