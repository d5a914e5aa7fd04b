#pragma once
// Facts about operators and problems, under the names that formulas and conditions in kernels/ use.
#include <cstdint>

#include "codegen/problem.h"
#include "codegen/weave/formula.h"

namespace segfold {

/// The sizes of a problem that are known when a stage is chosen.
struct Shape {
    std::int64_t num_elements = 0;  ///< counts an element once for each segment that covers it
    std::int64_t num_segments = 0;
    std::int64_t longest = 0;       ///< elements of the longest segment; 0 if unknown
    std::int64_t num_features = 0;  ///< length of rows; 0 if unknown
    std::int64_t padded = 0;        ///< elements after padding of segments (LengthRange); 0 if unknown
};

/// Facts that depend only on an operator's tree. A Problem computes them once.
FormulaNames operator_facts(const Operator& op);

/// Facts for needs and for conditions in a text: the operator's facts, usable laws, the form of the segments,
/// the width of indices, and the target.
FormulaNames problem_facts(const Problem& problem);

/// Facts for `suits`, `where` and `fits` lines: problem_facts(), the shape, and mean_length, the number of
/// elements per segment (64 if the sizes are unknown).
FormulaNames plan_facts(const Problem& problem, const Shape& shape = {});
/// Replaces the shape in `facts`.
FormulaNames with_shape(FormulaNames facts, const Shape& shape);

/// Bytes of one element in all columns that `lift` reads.
std::int64_t element_bytes(const Operator& op);

/// Size in bytes of the operator's State, as the emitted text declares it.
std::int64_t state_bytes(const Operator& op);

}  // namespace segfold
