#pragma once
// Facts of operators and problems, by the names that formulas and conditions of kernels/ have for them.
#include <cstdint>

#include "codegen/problem.h"
#include "codegen/weave/formula.h"

namespace segfold {

/// What is known of a problem's sizes when a stage is chosen.
struct Shape {
    std::int64_t num_elements = 0;  ///< each as often as it is folded: ranges may overlap
    std::int64_t num_segments = 0;
    std::int64_t longest = 0;       ///< elements of the longest segment; 0: not known
    std::int64_t num_features = 0;  ///< of rows; 0: not known
    std::int64_t padded = 0;        ///< elements once segments are padded (LengthRange); 0: not known
};

/// Facts of an operator's tree alone. A Problem computes them once.
FormulaNames operator_facts(const Operator& op);

/// What a need and a condition in a text may ask about: the operator's facts, usable laws, the form of the
/// segments, the width of an index, the target.
FormulaNames problem_facts(const Problem& problem);

/// What `suits`, `where` and `prefer` lines may ask about: problem_facts(), the shape, and mean_length, the
/// elements a segment (64 where nothing is known of the sizes).
FormulaNames plan_facts(const Problem& problem, const Shape& shape = {});
/// The same of another shape.
FormulaNames with_shape(FormulaNames facts, const Shape& shape);

/// Bytes of one element of every column that `lift` reads.
std::int64_t element_bytes(const Operator& op);

/// Size of the operator's State as the emitted text declares it.
std::int64_t state_bytes(const Operator& op);

}  // namespace segfold
