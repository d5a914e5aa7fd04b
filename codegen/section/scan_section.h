#pragma once
// Emits the code for running results: the operator's `scan` as a function, and reads and writes of its
// elements.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"
#include "dsl/check/rows.h"

namespace segfold {

/// The states that a `scan` reads. They are parameters and arguments of the emitted function that computes
/// the scan's outputs.
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

/// Returns the pieces for outputs that stand in a tile in shared memory; none for an operator without `scan`
/// or over rows. A text must define them after tile_place() and store_column().
[[nodiscard]] std::vector<Piece> scan_tile_section(const Problem& problem);

/// Returns the bytes of the outputs of one element that the operator's `scan` sets; 0 without a scan.
[[nodiscard]] std::int64_t scanned_bytes(const Operator& op);

/// True if an operator's running results need the segment of each element. They do if lift, scan or map reads
/// the element's place, or if results of segments are stored.
[[nodiscard]] bool scan_needs_places(const Operator& op);

}  // namespace segfold
