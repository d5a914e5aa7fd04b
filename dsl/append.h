#pragma once
// The `append` that follows from lift and combine.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// combine(earlier, lift) of a checked operator as one block: lift's values are bound by `let`, and combine
/// reads these instead of the later state. Needs a check().
Block joined_lift(const Operator& op);

/// A parameter or place that append reads and lift does not, or "". Stages load lift's parameters only.
std::string read_by_append_alone(const Operator& op);

/// True if lift reads a table, which append cannot; scalars do not count.
bool lift_reads_tables(const Operator& op);

}  // namespace segfold
