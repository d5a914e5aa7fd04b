#pragma once
// The layouts of a check, and the workloads made of them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"

namespace segfold::regress {

/// Segment length of the uniform layout, if it divides the number of elements. It is odd, so segments begin
/// anywhere in tiles and vectors.
inline constexpr std::int64_t kOddLength = 31;

/// A layout to check. `name` is the title of its column in the printed table.
struct CheckLayout {
    std::string name;
    Layout layout;
    /// The form in which segments are given, if it differs from the layout's own.
    ///
    /// `ranges` lists the segments from the last to the first, each one element too long. `groups` scatters
    /// the elements of the segments, and leaves some elements in no group. Other forms keep the segments as
    /// they are.
    std::optional<SegmentForm> recast = {};
    /// If true, the middle half of the segments of a recast layout becomes one segment. Runs of empty
    /// segments stand before it, after it and at both ends. Generated rows then have an odd length.
    bool has_runs = false;
    /// If true beside `has_runs`, each element in the eighth after the middle half becomes a segment of its
    /// own.
    bool has_ones = false;
    /// If true, arrays begin one element after an aligned address, and scratch memory first holds garbage.
    bool is_disturbed = false;
    bool is_few = false;  ///< true: the layout has few elements, whatever number is requested

    /// True if the option --layout accepts `name` for the same data.
    [[nodiscard]] bool is_named() const { return !recast && !is_few; }
};

/// Returns layouts that are hard for stages. They have empty segments only if the operator takes
/// them.
std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements);

/// Makes the data of a check on `layout`, with `standard_elements` elements if neither the request nor the
/// layout gives their number.
PreparedWorkload make_check_workload(const Operator& op, WorkloadRequest request, const CheckLayout& layout,
                                     std::int64_t standard_elements);

/// Returns groups with as many elements as the segments, in any order. Some 16th of the elements that a group
/// can spare are in no group. If `allows_empty`, the last group is empty.
[[nodiscard]] Segments scattered(const Segments& segments, bool allows_empty);

}  // namespace segfold::regress
