#pragma once
// Layouts that a check tests, and the workloads built on them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"

namespace segfold::regress {

/// Segment length of the uniform layout, if this length divides the number of elements. The length is odd, so
/// segments begin at any place of a tile or a vector load.
inline constexpr std::int64_t kOddLength = 31;

/// A layout to check. `name` heads its column in the printed table.
struct CheckLayout {
    std::string name;
    Layout layout;
    /// The form to which the segments are converted, if it differs from the layout's own form.
    ///
    /// For `ranges`, the segments are listed from the last to the first, and each is one element too long.
    /// For `groups`, the elements of the segments are scattered, and some elements are in no group. Other
    /// forms keep the segments unchanged.
    std::optional<SegmentForm> recast = {};
    /// If true and `recast` is set, the middle half of the segments is merged into one segment. Sequences of
    /// empty segments are inserted before and after it and at both ends. Generated rows then have an odd
    /// number of features.
    bool has_runs = false;
    /// If true and `has_runs` is true, each element in the eighth of the data after the middle half becomes a
    /// segment of its own.
    bool has_ones = false;
    /// If true, arrays begin one element past an aligned address, and scratch memory is filled with garbage
    /// first.
    bool is_disturbed = false;
    bool is_few = false;  ///< true: the layout has few elements, whatever number is requested

    /// True if the option --layout accepts `name` and then yields the same data.
    [[nodiscard]] bool is_named() const { return !recast && !is_few; }
};

/// Returns layouts on which mistakes of stages are likely to show. Includes empty segments only if the
/// operator accepts them.
std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements);

/// Builds the workload of a check on `layout`. Uses `standard_elements` elements if neither the request nor
/// the layout gives a number.
PreparedWorkload make_check_workload(const Operator& op, WorkloadRequest request, const CheckLayout& layout,
                                     std::int64_t standard_elements);

/// Scatters the elements of the segments over as many groups. Some elements, at most every 16th, are put in
/// no group. If `allows_empty` is true, one more group is empty.
[[nodiscard]] Segments scattered(const Segments& segments, bool allows_empty);

}  // namespace segfold::regress
