#pragma once
// Workloads and results: the input and the output of every back end.
#include <functional>
#include <optional>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold {

/// An operator with its arrays and segments.
struct Workload {
    Operator op;                ///< a checked operator
    std::vector<Array> arrays;  ///< one for each parameter: columns [num_elements], tables of any length
    Segments segments;
    /// Number of features in a row, for an operator over rows; else 1. Columns of rows are [num_elements,
    /// num_features] and results [num_segments, num_features], in C order.
    std::int64_t num_features = 1;
};

/// One named array for each of returned_fields(): first results [num_segments], then outputs [num_elements].
struct Results : std::vector<NamedArray> {
    std::optional<Array> keys;  ///< key of each segment, if a kernel found the segments in keys
};

/// Allocates the results of a workload. Fills them with bytes that a fold is unlikely to produce.
Results allocate_results(const Workload& workload);

/// Allocates results for kernels that read segments in `form`. If kernels find the segments, the arrays have
/// one entry per element.
Results allocate_results(const Workload& workload, SegmentForm form);
/// Allocates results for a fold of these sizes.
Results allocate_results(const Operator& op, SegmentForm form, std::int64_t num_segments,
                         std::int64_t num_elements, std::int64_t num_features);

/// Returns the workload of a single feature. Copies the feature's number from every row, and borrows other
/// arrays.
[[nodiscard]] Workload feature_of(const Workload& workload, std::int64_t feature);
/// Returns a single feature of the results of a fold over rows.
[[nodiscard]] Results feature_of(const Results& results, std::int64_t feature, std::int64_t num_features);
/// Folds each feature with `fold`, and joins the results into rows.
[[nodiscard]] Results fold_features(const Workload& workload,
                                    const std::function<Results(const Workload&)>& fold);

/// Returns the workload of an operator with a `map` as a fold without outputs. Its operator is
/// without_outputs(), and its arrays are borrowed.
[[nodiscard]] Workload fold_of(const Workload& workload);

/// Largest number of features in a row. The bytes of a row of 8-byte numbers then fit 32 bits.
inline constexpr std::int64_t kMaxFeatures = std::int64_t{1} << 27;

/// Throws InputError if rows of `what` have more features than kMaxFeatures.
void check_num_features(const std::string& what, std::int64_t num_features);

/// Checks types and lengths of a workload's arrays, and its segments with check_segments().
///
/// Throws InputError if a check fails; the message names the parameter.
void check_workload(const Workload& workload);
/// Throws InputError if an empty segment has no result, or if an element gets two outputs. The message names
/// the first such segment or element.
void check_segments(const Operator& op, const Segments& segments);

}  // namespace segfold
