#pragma once
// Computes reference results: the language's evaluator folds each segment on the host.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The arrays of a workload for the evaluator: columns and tables, each in the order of the parameters.
struct OperatorInputs {
    std::vector<const void*> columns;
    std::vector<TableView> tables;
};

/// Returns the arrays of a workload, which must outlive the result.
[[nodiscard]] OperatorInputs inputs_of(const Workload& workload);

/// A value in wide precision: in `real` if its type is floating-point, else in `bits`.
using WideValue = Slot<long double>;

/// One result field in wide precision.
struct WideField {
    std::string name;
    Type type;                      ///< type to which values are rounded at the end
    std::vector<WideValue> values;  ///< [num_segments]; for an output [num_elements]
};

/// One entry per result field. All values were computed in long double and never rounded to a narrower type.
using WideResults = std::vector<WideField>;

/// Computes the outputs of every element with the evaluator, from the finished results of all segments.
///
/// `results` are the results of fold_of(workload), which only map reads. Returns the arrays that a fold of
/// the workload returns. Elements outside of all segments get zero.
Results map_elements(const Workload& workload, Results results, int threads = 0);

/// Returns the precision of the reference: working precision if nothing in the operator rounds, because the
/// results are then exact; wide precision if something rounds.
[[nodiscard]] Precision precision_of_reference(const Operator& op);

/// Returns "working" or "wide".
[[nodiscard]] std::string_view name(Precision precision);

/// Describes a precision, as in "long double (64 bits of significand), rounded once at the end".
[[nodiscard]] std::string text_of(Precision precision);

/// Returns the reference results: reduce_sequentially() in precision_of_reference().
Results right_results(const Workload& workload, int threads = 0);

/// Folds each segment from left to right.
///
/// Working precision rounds after every operation as the types demand. Wide precision rounds only once, to
/// the type of the result. Segments are spread over `threads` threads (0 means all cores), but one thread
/// folds each segment. Throws InputError if the workload cannot be run (check_workload), or if an element
/// reads outside of a table.
Results reduce_sequentially(const Workload& workload, Precision precision = Precision::working,
                            int threads = 0);

/// Folds each segment in wide precision and returns unrounded results: 16 bytes per segment and field. If the
/// operator has outputs, returns all results, then the outputs. If the operator keeps no results and has no
/// map, the results are not computed. Scans combine one element after the other.
///
/// Folds chunks of 2^9 elements and then their states, which for floating point is closer to the exact result
/// than a sequential fold. All threads share a segment of 2^20 or more elements, in parts of 2^14. If the
/// operator is not associative, folds every segment strictly from left to right.
WideResults reduce_widely(const Workload& workload, int threads = 0, bool is_associative = true);

}  // namespace segfold
