#pragma once
// Emits the code for running results: the operator's `scan` as a function, and reads and writes of its
// elements.
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// The states that a `scan` reads, as parameters of its function.
struct ScannedStates {
    Operator op;  ///< the operator; its operands have the names that scan gives to its states
    std::vector<std::string> parameters;  ///< parameters for states that scan reads
    std::vector<std::string> arguments;   ///< those of "before" and "through" that scan reads
};
[[nodiscard]] ScannedStates scanned_states(Operator op);

/// The pieces that running results of columns may use in CUDA; none for an operator without `scan`.
[[nodiscard]] std::vector<Piece> scan_section(const Problem& problem);

}  // namespace segfold
