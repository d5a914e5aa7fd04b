#pragma once
// Facts about operators and problems as named numbers. The formulas and conditions of the files in kernels/
// use these names.
#include <cstdint>

#include "codegen/problem.h"
#include "codegen/weave/formula.h"

namespace segfold {

/// The sizes of a workload, as far as they are known when a stage is chosen.
struct Shape {
    std::int64_t num_elements = 0;  ///< an element in several segments counts once for each
    std::int64_t num_segments = 0;
    std::int64_t longest = 0;       ///< elements of the longest segment; 0 if unknown
    std::int64_t num_features = 0;  ///< length of rows; 0 if unknown
    /// Number of elements if each segment is padded to its longest neighbour; see LengthRange::padded. 0 if
    /// unknown.
    std::int64_t padded = 0;
};

/// Returns the facts that depend only on the operator. A Problem computes them once.
FormulaNames operator_facts(const Operator& op);

/// Returns the facts for `needs` lines and for conditions in a stage's text: the operator's facts, usable
/// laws, the form of the segments, the width of indices, and the target.
FormulaNames problem_facts(const Problem& problem);

/// Returns the facts for `suits`, `where` and `fits` lines: problem_facts(), the shape, and mean_length, the
/// number of elements per segment (64 if the sizes are unknown).
FormulaNames plan_facts(const Problem& problem, const Shape& shape = {});
/// Returns `facts` with the shape replaced by `shape`.
FormulaNames with_shape(FormulaNames facts, const Shape& shape);

/// Returns the bytes of one element, summed over all columns that `lift` reads.
std::int64_t element_bytes(const Operator& op);

/// Returns the size in bytes of the struct Columns that the emitted text declares; 0 if `lift` reads no
/// column.
std::int64_t columns_bytes(const Operator& op);

/// Returns the size in bytes of the struct State that the emitted text declares.
std::int64_t state_bytes(const Operator& op);

}  // namespace segfold
