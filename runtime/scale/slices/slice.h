#pragma once
// Slices of a workload: contiguous parts of its items, cut anywhere.
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Consecutive elements of one segment, at places of a slice's columns.
struct SlicePiece {
    std::int64_t segment = 0;   ///< its number in the whole input
    std::int64_t begin = 0;     ///< first element
    std::int64_t end = 0;       ///< one past the last; a head is empty if its segment ended at the cut
    std::int64_t position = 0;  ///< place in its segment of the first element

    [[nodiscard]] std::int64_t length() const { return end - begin; }
};

/// Consecutive elements, and the segments in them. A segment belongs to the slice in which it ends; an empty
/// segment at a cut belongs to the slice before.
struct Slice {
    std::vector<Array>
        arrays;  ///< one for each parameter, borrowed: the slice's part of columns, whole tables
    std::int64_t num_elements = 0;   ///< of each column
    std::int64_t first_element = 0;  ///< place in the whole input of the columns' first element
    std::int64_t first_inner = 0;    ///< number in the whole input of the first segment inside
    Segments inner;                  ///< the segments inside; they count elements from `inner_begin` on
    std::int64_t inner_begin = 0;    ///< place in the columns
    std::optional<SlicePiece> head;  ///< end of a segment that began in an earlier slice
    std::optional<SlicePiece> tail;  ///< part of the segment that goes on in the next slice
};

/// `count` elements of an array from `begin` on, borrowed.
[[nodiscard]] Array part_of(const Array& array, std::int64_t begin, std::int64_t count);

/// Segments `first` .. `last` - 1 of contiguous segments. They count elements from the first one's begin, and
/// borrow what need not be changed.
[[nodiscard]] Segments segments_inside(const Segments& segments, std::int64_t first, std::int64_t last);

/// Cuts a workload into slices of equal numbers of items.
///
/// Items are elements counted along the segments; they differ from elements for ranges alone. Slices borrow
/// from the workload, which must outlive them.
class Slicer {
public:
    /// With `block`, cuts lie a multiple of `block` elements behind their segment's begin.
    Slicer(const Workload& workload, std::int64_t num_slices, std::int64_t block = 0);

    [[nodiscard]] std::int64_t num_slices() const { return num_slices_; }
    /// The first item of a slice; of slice num_slices(), the number of items.
    [[nodiscard]] std::int64_t cut(std::int64_t slice) const;
    /// Throws std::bad_alloc if there is no memory for its offsets.
    [[nodiscard]] Slice slice(std::int64_t which) const;
    /// Segments `first` .. `last` - 1 end in a slice.
    struct Ended {
        std::int64_t first = 0, last = 0;
    };
    [[nodiscard]] Ended ended(std::int64_t slice) const;
    /// True if a segment lies inside a slice; false if cuts divide all of them.
    [[nodiscard]] bool has_inner() const;

private:
    [[nodiscard]] std::int64_t item_begin(std::int64_t segment) const;
    /// The number of segments that end at or before an item.
    [[nodiscard]] std::int64_t num_ended(std::int64_t item) const;
    void add_contiguous(Slice& slice, std::int64_t first, std::int64_t last) const;
    void add_ranges(Slice& slice, std::int64_t first, std::int64_t last) const;

    const Workload& workload_;
    std::int64_t num_slices_;
    std::int64_t block_;
    std::int64_t num_items_;
    std::vector<std::int64_t> item_offsets_;  ///< form ranges: [num_segments + 1]
};

}  // namespace segfold
