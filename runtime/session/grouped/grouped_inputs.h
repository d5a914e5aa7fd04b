#pragma once
// The arrays of a fold whose groups come in any order, sorted by group.
#include <optional>
#include <span>
#include <vector>

#include "dsl/operator.h"
#include "runtime/data/groups.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// A fold of groups as a fold of segments.
struct GroupedInputs {
    /// The operator with a further column in place of `index`, if elements were moved and it reads `index`.
    std::optional<Operator> with_index;
    std::vector<Array>
        arrays;  ///< one for each parameter: copies of columns, if these were moved, else borrowed
    std::optional<GroupOrder> order;
    std::optional<Array> keys;  ///< of each group, if groups are given by keys

    [[nodiscard]] std::vector<ArrayView> inputs() const;
    [[nodiscard]] SegmentsView segments() const;
};

/// Sorts arrays on the host by group, stably. `segments` are made by groups() or by(). Throws InputError for
/// wrong arrays, and for numbers of groups that are too large. `numbered` holds number_keys() of the keys if
/// the caller has it.
[[nodiscard]] GroupedInputs group_inputs(const Operator& op, std::span<const ArrayView> inputs,
                                         const SegmentsView& segments,
                                         const std::optional<NumberedKeys>& numbered = std::nullopt);

/// A workload of the caller's arrays on the host as they lie, with segments of form groups.
[[nodiscard]] Workload unsorted_groups(const Operator& op, std::span<const ArrayView> inputs,
                                       const SegmentsView& segments);

/// The workload whose elements are sorted by group, for segments of form groups. Other arrays are borrowed.
[[nodiscard]] Workload sorted_by_group(const Workload& workload);

}  // namespace segfold
