#pragma once
// Expresses `append` by lift and combine.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns combine(earlier, lift) of a checked operator as one block. `let` binds the lifted values, and
/// combine reads them in place of the later state.
Block joined_lift(const Operator& op);

/// Name of a parameter or place (index, position, segment) that append reads and lift does not; empty if
/// there is none. Stages load only the parameters that lift reads.
std::string read_by_append_alone(const Operator& op);

/// True if lift reads a table. Stages then ignore `append`. A scalar does not count as a table.
bool lift_reads_tables(const Operator& op);

}  // namespace segfold
