#pragma once
// The right answer: each segment folded one element after the other by the evaluator of the language.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/workload.h"

namespace segfold {

/// Where the evaluator finds a workload's arrays: columns and tables, each in the order of the parameters.
struct OperatorInputs {
    std::vector<const void*> columns;
    std::vector<TableView> tables;
};

/// The arrays of a workload, which must outlive the result.
[[nodiscard]] OperatorInputs inputs_of(const Workload& workload);

/// A value in wide precision: `real` where its type is floating-point, else `bits`.
using WideValue = Slot<long double>;

/// One result field in wide precision.
struct WideField {
    std::string name;
    Type type;                      ///< type that the field's values are rounded to
    std::vector<WideValue> values;  ///< [num_segments], or [num_elements] of an output
};

/// One field for each result field; nothing in them was ever rounded to a type narrower than long double.
using WideResults = std::vector<WideField>;

/// The outputs of every element, by the evaluator, from the finished results of all segments.
///
/// `results` are those of fold_of(workload); they become the results of a fold of the workload. Elements in
/// no segment are zero.
Results map_elements(const Workload& workload, Results results, int threads = 0);

/// The precision of the right answer: working precision if the operator rounds nothing and is exact, else
/// wide.
[[nodiscard]] Precision precision_of_reference(const Operator& op);

/// "working", "wide"
[[nodiscard]] std::string_view name(Precision precision);

/// "long double (64 bits of significand), rounded once at the end"; of working precision that nothing rounds.
[[nodiscard]] std::string text_of(Precision precision);

/// The right answer: reduce_sequentially() in precision_of_reference().
Results right_results(const Workload& workload, int threads = 0);

/// Folds each segment in order.
///
/// Working precision rounds after every operation as the types say; wide precision rounds once, to the type
/// of the result. Segments are spread over `threads` threads (0: all); one segment is always folded by one
/// thread, left to right, however long it is. Throws InputError where the workload cannot be run
/// (check_workload), and where a table is read outside of its length.
Results reduce_sequentially(const Workload& workload, Precision precision = Precision::working,
                            int threads = 0);

/// The same in wide precision, with the results as they are: 16 bytes for each segment and field. Of an
/// operator with a `map` all results, whether it keeps them or not, and then the outputs.
///
/// Elements are folded in chunks of 2^9, and then the chunks: in floating point that is closer to the exact
/// result than the sequential fold. Segments of 2^20 elements and more are folded by all threads, in parts of
/// 2^14. If the operator is not associative, all are folded from left to right.
WideResults reduce_widely(const Workload& workload, int threads = 0, bool is_associative = true);

}  // namespace segfold
