#pragma once
// Expressing `append` by lift and combine.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns combine(earlier, lift) of a checked operator as one block. `let` binds lift's values, and combine
/// reads these in place of the later state.
Block joined_lift(const Operator& op);

/// Name of a parameter or place (index, position, segment) that append reads and lift does not; empty if
/// there is none. Stages load only what lift reads.
std::string read_by_append_alone(const Operator& op);

/// True if lift reads a table. Append cannot read one. Scalars do not count.
bool lift_reads_tables(const Operator& op);

}  // namespace segfold
