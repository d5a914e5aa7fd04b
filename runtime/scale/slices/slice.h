#pragma once
// Slices of a workload. A slice is a contiguous part of the items, cut anywhere.
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Consecutive elements of one segment, as a range of a slice's columns.
struct SlicePiece {
    std::int64_t segment = 0;  ///< number of the segment in the whole input
    std::int64_t begin = 0;    ///< index of the first element
    /// One past the last element. Equal to `begin` in a Slice::head whose segment ends at the cut.
    std::int64_t end = 0;
    std::int64_t position = 0;  ///< position of the first element in the segment

    [[nodiscard]] std::int64_t length() const { return end - begin; }
};

/// Consecutive elements and their segments. A segment belongs to the slice in which it ends. An empty segment
/// at a cut belongs to the earlier slice.
struct Slice {
    /// One borrowed array for each parameter: the slice's part of a column, or a whole table.
    std::vector<Array> arrays;
    std::int64_t num_elements = 0;   ///< number of elements of each column
    std::int64_t first_element = 0;  ///< index of the columns' first element in the whole input
    std::int64_t first_inner = 0;    ///< number of the first inner segment in the whole input
    /// Segments that begin and end in the slice ("inner segments"). Their element 0 is element `inner_begin`
    /// of the columns.
    Segments inner;
    std::int64_t inner_begin = 0;    ///< index in the columns of element 0 of the inner segments
    std::optional<SlicePiece> head;  ///< the end of a segment that began in an earlier slice
    std::optional<SlicePiece> tail;  ///< the part of a segment that continues in the next slice
};

/// Returns an array that borrows `count` elements of `array` from element `begin` on.
[[nodiscard]] Array part_of(const Array& array, std::int64_t begin, std::int64_t count);

/// Returns the segments `first` to `last` - 1 of contiguous segments. Elements count from the begin of
/// segment `first`. Arrays that need no change are borrowed.
[[nodiscard]] Segments segments_inside(const Segments& segments, std::int64_t first, std::int64_t last);

/// Cuts a workload into slices of equal numbers of items.
///
/// Items are the elements of segment 0, then of segment 1, and so on. They differ from the elements of the
/// input only if segments are given by ranges. Slices borrow from the workload, which must outlive them.
class Slicer {
public:
    /// If `block` is not 0, each cut is a multiple of `block` elements after the begin of the segment that it
    /// cuts.
    Slicer(const Workload& workload, std::int64_t num_slices, std::int64_t block = 0);

    [[nodiscard]] std::int64_t num_slices() const { return num_slices_; }
    /// Returns the index of the first item of slice `slice`; the number of items if `slice` is num_slices().
    [[nodiscard]] std::int64_t cut(std::int64_t slice) const;
    /// Returns slice `which`. Throws std::bad_alloc if there is no memory for its offsets.
    [[nodiscard]] Slice slice(std::int64_t which) const;
    /// The segments that end in a slice: from `first` to `last` - 1.
    struct Ended {
        std::int64_t first = 0, last = 0;
    };
    [[nodiscard]] Ended ended(std::int64_t slice) const;
    /// True if some segment lies inside a slice; false if cuts divide all segments.
    [[nodiscard]] bool has_inner() const;

private:
    [[nodiscard]] std::int64_t item_begin(std::int64_t segment) const;
    /// Returns the number of segments that end at or before an item.
    [[nodiscard]] std::int64_t num_ended(std::int64_t item) const;
    void add_contiguous(Slice& slice, std::int64_t first, std::int64_t last) const;
    void add_ranges(Slice& slice, std::int64_t first, std::int64_t last) const;

    const Workload& workload_;
    std::int64_t num_slices_;
    std::int64_t block_;
    std::int64_t num_items_;
    /// For ranges, the number of the first item of each segment, and at the end the number of items.
    std::vector<std::int64_t> item_offsets_;
};

}  // namespace segfold
