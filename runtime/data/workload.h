#pragma once
// The input and the results of every back end.
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
};

/// One array for each result field, [num_segments], under the field's name.
struct Results : std::vector<NamedArray> {
    std::optional<Array> keys;  ///< the key of each segment, where a kernel has found the segments in keys
};

/// Allocates the results of a workload, filled with bytes that no computation is likely to give.
Results allocate_results(const Workload& workload);

/// The same for a form whose segments the kernels find: arrays have room for a segment of every element.
Results allocate_results(const Workload& workload, SegmentForm form);

/// Checks that a workload can be run: types and lengths of the arrays, and a result for every empty segment.
///
/// Throws InputError naming the parameter, or the first empty segment of an operator that has no identity.
void check_workload(const Workload& workload);

}  // namespace segfold
