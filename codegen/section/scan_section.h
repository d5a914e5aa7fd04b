#pragma once
// Emits the code for running results: the operator's `scan` as a function, and reads and writes of its
// elements.
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// The states that a `scan` reads, as parameters and arguments of the emitted function that computes the
/// scan's outputs.
struct ScannedStates {
    Operator op;  ///< the operator, whose operands have the names that scan gives to its states
    std::vector<std::string> parameters;  ///< declarations of the states that scan reads
    std::vector<std::string> arguments;   ///< "before" and "through", each only if scan reads this state
};
[[nodiscard]] ScannedStates scanned_states(Operator op);

/// Returns the pieces that CUDA texts may use for running results; none for an operator without `scan`. A
/// text must define them after the pieces of rows_section(). `rows` is with_reads_as_columns() of an operator
/// over rows.
[[nodiscard]] std::vector<Piece> scan_section(const Problem& problem, const RowOperator& rows);

}  // namespace segfold
