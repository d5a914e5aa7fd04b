#pragma once
// Slices of a workload: contiguous parts of its items, cut anywhere.
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Some consecutive elements of one segment, places counted in the columns of a slice.
struct Piece {
    std::int64_t segment = 0;   ///< its number in the whole input
    std::int64_t begin = 0;     ///< first element
    std::int64_t end = 0;       ///< one past the last; a head may be empty, where its segment has just ended
    std::int64_t position = 0;  ///< place in its segment of the first element

    [[nodiscard]] std::int64_t length() const { return end - begin; }
};

/// What one slice holds. A segment belongs to the slice in which it ends; an empty one at a cut to the slice
/// before the cut.
struct Slice {
    std::vector<Array> arrays;  ///< one for each parameter: columns cut to the slice, tables whole; borrowed
    std::int64_t num_elements = 0;   ///< of each column
    std::int64_t first_element = 0;  ///< place in the whole input of the columns' first element
    std::int64_t first_inner = 0;    ///< number in the whole input of the first segment that lies inside
    Segments inner;  ///< the segments that lie inside; they count elements from `inner_begin` on
    std::int64_t inner_begin = 0;  ///< place in the columns
    std::optional<Piece> head;     ///< end of a segment that began in an earlier slice
    std::optional<Piece> tail;     ///< part of the segment that goes on in the next slice
};

/// `count` elements of an array from `begin` on, borrowed.
[[nodiscard]] Array part_of(const Array& array, std::int64_t begin, std::int64_t count);

/// Segments `first` .. `last` - 1 of contiguous segments, counted from the first one's begin; borrowed where
/// that can be. The form is that of `segments`, but for one whole segment of several.
[[nodiscard]] Segments segments_inside(const Segments& segments, std::int64_t first, std::int64_t last);

/// Cuts a workload into slices of equal numbers of items.
///
/// Items are elements counted along the segments: only ranges tell them apart. The workload must outlive the
/// slices, which borrow from it.
class Slicer {
public:
    /// With `block`, cuts lie whole blocks of that many elements behind their segment's begin.
    Slicer(const Workload& workload, std::int64_t num_slices, std::int64_t block = 0);

    [[nodiscard]] std::int64_t num_slices() const { return num_slices_; }
    /// The first item of a slice; of slice num_slices(), the number of items.
    [[nodiscard]] std::int64_t cut(std::int64_t slice) const;
    /// Throws std::bad_alloc where there is no memory for its offsets.
    [[nodiscard]] Slice slice(std::int64_t which) const;
    /// The segments that end in a slice: from one number up to before the other.
    struct Ended {
        std::int64_t first = 0, last = 0;
    };
    [[nodiscard]] Ended ended(std::int64_t slice) const;
    /// Whether some segment lies inside a slice; else all are cut into pieces.
    [[nodiscard]] bool has_inner() const;

private:
    [[nodiscard]] std::int64_t item_begin(std::int64_t segment) const;
    /// How many segments end at or before an item.
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
