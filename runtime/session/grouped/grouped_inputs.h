#pragma once
// Sorts the arrays of a fold by group, for groups in any order.
#include <optional>
#include <span>
#include <vector>

#include "dsl/operator.h"
#include "runtime/data/groups.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Inputs sorted by group. The groups are then contiguous segments.
struct GroupedInputs {
    /// The operator with a column in place of `index`. Empty unless elements were moved and the operator
    /// reads `index`.
    std::optional<Operator> with_index;
    /// One array for each parameter of the operator. If elements were moved, columns are sorted copies; all
    /// other arrays are borrowed.
    std::vector<Array> arrays;
    std::optional<GroupOrder> order;
    std::optional<Array> keys;  ///< key of each group; empty if groups have numbers

    [[nodiscard]] std::vector<ArrayView> inputs() const;
    [[nodiscard]] SegmentsView segments() const;
};

/// Sorts arrays on the host by group. The sort is stable. `segments` come from groups() or by(). `numbered`
/// is the result of number_keys() for the keys, if the caller has it. Throws InputError for invalid arrays,
/// and for group numbers that are too large.
[[nodiscard]] GroupedInputs group_inputs(const Operator& op, std::span<const ArrayView> inputs,
                                         const SegmentsView& segments,
                                         const std::optional<NumberedKeys>& numbered = std::nullopt);

/// Returns a copy of the workload with its elements sorted by group. The segments of `workload` must have the
/// form groups. Borrows arrays that need no sorting.
[[nodiscard]] Workload sorted_by_group(const Workload& workload);

}  // namespace segfold
