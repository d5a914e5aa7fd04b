#pragma once
// Expresses `append` by lift and combine.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns one block that computes combine(earlier, lift(element)) of a checked operator. Its locals hold the
/// lifted fields in place of the later state.
Block joined_lift(const Operator& op);

/// Returns the name of a parameter or place (index, position, segment) that append reads but lift does not;
/// empty if there is none. check() refuses such an append, because stages load only the parameters that lift
/// reads.
std::string read_by_append_alone(const Operator& op);

/// True if lift reads a table. Stages then ignore `append`. A scalar does not count as a table.
bool lift_reads_tables(const Operator& op);

}  // namespace segfold
