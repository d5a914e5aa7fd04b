#pragma once
// Computes reference results on the host, with an evaluator of the operator language.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Addresses of a workload's columns and tables for the evaluator, each list in the order of the parameters.
struct OperatorInputs {
    std::vector<const void*> columns;
    std::vector<TableView> tables;
};

/// Returns the inputs of a workload. The workload must outlive the result.
[[nodiscard]] OperatorInputs inputs_of(const Workload& workload);

/// A value in wide precision. `real` holds it if its type is floating-point, otherwise `bits`.
using WideValue = Slot<long double>;

/// One result field in wide precision.
struct WideField {
    std::string name;
    Type type;                      ///< type to which values are rounded at the end
    std::vector<WideValue> values;  ///< one per segment; for an output one per element
};

/// One entry per result field. Values are computed in long double and not rounded to their type.
using WideResults = std::vector<WideField>;

/// Computes the outputs of every element with the evaluator. Elements that lie in no segment get zero.
///
/// `results` are the results of fold_of(workload); only map reads them. Returns all arrays that a fold of the
/// workload returns.
Results map_elements(const Workload& workload, Results results, int threads = 0);

/// Returns the precision of the reference. This is working precision if nothing in the operator rounds,
/// because its results are then exact, and wide precision otherwise.
[[nodiscard]] Precision precision_of_reference(const Operator& op);

/// Returns "working" or "wide".
[[nodiscard]] std::string_view name(Precision precision);

/// Describes a precision, such as "long double (64 bits of significand), rounded once at the end".
[[nodiscard]] std::string text_of(Precision precision);

/// Returns the reference results: reduce_sequentially() in precision_of_reference().
Results right_results(const Workload& workload, int threads = 0);

/// Folds each segment from left to right.
///
/// Working precision rounds after every operation to the operation's type. Wide precision rounds only once,
/// to the type of the result. Segments are spread over `threads` threads (0: all cores), but each segment is
/// folded by one thread. Throws InputError if the workload cannot be run (check_workload), or if an element
/// reads outside of a table.
Results reduce_sequentially(const Workload& workload, Precision precision = Precision::working,
                            int threads = 0);

/// Folds each segment in wide precision and returns unrounded results, 16 bytes per value. If the operator
/// has outputs, returns the results, then the outputs. Omits the results if the operator keeps none and has
/// no map. Scans combine one element after the other.
///
/// Folds chunks of 2^9 elements and then combines their states, which in floating point is closer to the
/// exact result than a left fold. A segment of 2^20 or more elements is divided into parts of 2^14 for all
/// threads. If the operator is not associative, every segment is folded strictly from left to right.
WideResults reduce_widely(const Workload& workload, int threads = 0, bool is_associative = true);

}  // namespace segfold
