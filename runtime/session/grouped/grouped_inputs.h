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

/// Inputs that fold groups as segments.
struct GroupedInputs {
    /// If elements were moved and the operator reads `index`: the operator with a column in place of `index`.
    /// Else empty.
    std::optional<Operator> with_index;
    /// One array for each parameter of the operator. If elements were moved, columns are copies sorted by
    /// group; all other arrays are borrowed.
    std::vector<Array> arrays;
    std::optional<GroupOrder> order;
    std::optional<Array> keys;  ///< key of each group, if groups are given by keys; else empty

    [[nodiscard]] std::vector<ArrayView> inputs() const;
    [[nodiscard]] SegmentsView segments() const;
};

/// Sorts arrays on the host by group with a stable sort. `segments` come from groups() or by(). Throws
/// InputError for wrong arrays, and for group numbers that are too large. `numbered` is the
/// result of number_keys() for the keys, if the caller has it.
[[nodiscard]] GroupedInputs group_inputs(const Operator& op, std::span<const ArrayView> inputs,
                                         const SegmentsView& segments,
                                         const std::optional<NumberedKeys>& numbered = std::nullopt);

/// Returns a workload with elements sorted by group, for a workload with segments of form groups. Arrays that
/// need no sorting are borrowed.
[[nodiscard]] Workload sorted_by_group(const Workload& workload);

}  // namespace segfold
