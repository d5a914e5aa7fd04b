#pragma once
// Expresses `append` by lift and combine.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Builds one block that computes combine(earlier, lift(element)) for a checked operator. Locals of the block
/// hold the lifted values, which stand for the fields of the later state.
Block joined_lift(const Operator& op);

/// Name of a parameter or place (index, position, segment) that append reads but lift does not; empty if
/// there is none. check() refuses such an append, because stages load only the parameters that lift reads.
std::string read_by_append_alone(const Operator& op);

/// True if lift reads a table. Stages then ignore `append`. A scalar does not count as a table.
bool lift_reads_tables(const Operator& op);

}  // namespace segfold
