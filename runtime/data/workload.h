#pragma once
// The input and the results of every back end.
#include <functional>
#include <optional>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/data/segments.h"

namespace segfold {

/// An operator with the arrays it is run on.
struct Workload {
    Operator op;                ///< checked
    std::vector<Array> arrays;  ///< one for each parameter: columns [num_elements], tables of any length
    Segments segments;
    /// Of an operator over rows: the length of a row. Columns of rows are then [num_elements, num_features],
    /// results [num_segments, num_features], all in C order.
    std::int64_t num_features = 1;
};

/// One array for each of returned_fields(), under its name: results [num_segments], then outputs
/// [num_elements].
struct Results : std::vector<NamedArray> {
    std::optional<Array> keys;  ///< the key of each segment, where a kernel has found the segments in keys
};

/// Allocates the results of a workload, filled with bytes that no computation is likely to give.
Results allocate_results(const Workload& workload);

/// The same for a form whose segments the kernels find: arrays have room for a segment of every element.
Results allocate_results(const Workload& workload, SegmentForm form);

/// The workload of one feature: its numbers of every row, copied; other arrays are borrowed.
[[nodiscard]] Workload feature_of(const Workload& workload, std::int64_t feature);
/// One feature of a fold over rows.
[[nodiscard]] Results feature_of(const Results& results, std::int64_t feature, std::int64_t num_features);
/// Folds each feature by `fold` and puts the results together as rows.
[[nodiscard]] Results fold_features(const Workload& workload,
                                    const std::function<Results(const Workload&)>& fold);

/// The fold of a workload of an operator with a `map`: its arrays, borrowed, and without_map().
[[nodiscard]] Workload fold_of(const Workload& workload);

/// The most features of a row: so many numbers of eight bytes are counted in 32 bits.
inline constexpr std::int64_t kMaxFeatures = std::int64_t{1} << 27;

/// Throws InputError where rows of `what` have more features than kMaxFeatures.
void check_num_features(const std::string& what, std::int64_t num_features);

/// Checks that a workload can be run: types and lengths of the arrays, and a result for every empty segment.
///
/// Throws InputError naming the parameter, or the first empty segment of an operator that has no identity.
void check_workload(const Workload& workload);

}  // namespace segfold
