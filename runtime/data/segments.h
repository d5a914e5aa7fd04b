#pragma once
// Checked segments in the form that kernels read.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "dsl/array.h"
#include "dsl/layout.h"

namespace segfold {

/// The division of the elements 0 to num_elements - 1 into segments.
///
/// The functions below make segments and check everything on which kernels rely. Index arrays have i32 or i64
/// (see index_bits()). Segments of form flags or keys also have offsets, for the reference and for stages
/// that take offsets. Segments of form groups have no bounds, and only kernels read them.
struct Segments {
    SegmentForm form = SegmentForm::whole;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::int64_t uniform_length = 0;  ///< length of each segment; for form uniform
    Array offsets;    ///< for forms offsets, flags, keys: [num_segments + 1], non-decreasing from 0 to
                      ///< num_elements
    Array begins;     ///< for form ranges: [num_segments]
    Array ends;       ///< for form ranges: [num_segments], end >= begin
    Array flags;      ///< for form flags: [num_elements] of u8, the first nonzero
    Array item_keys;  ///< for form keys: [num_elements] of any type
    Array numbers;    ///< for form groups: [num_elements] of any integer type
    std::optional<Array> keys;  ///< for form keys: the key of each run, [num_segments]
    bool has_wide_indices = false;

    /// Width of an index in bits: 32 if elements, segments and the sum of lengths are at most
    /// kMaxNarrowIndex, else 64.
    [[nodiscard]] int index_bits() const { return has_wide_indices ? 64 : 32; }
    [[nodiscard]] Type index_type() const { return has_wide_indices ? Type::i64 : Type::i32; }

    /// First element of a segment.
    [[nodiscard]] std::int64_t begin(std::int64_t segment) const;
    /// One past the last element of a segment.
    [[nodiscard]] std::int64_t end(std::int64_t segment) const;
    [[nodiscard]] std::int64_t length(std::int64_t segment) const { return end(segment) - begin(segment); }

    [[nodiscard]] Segments copy() const;
    /// Returns segments with the same contents. Their arrays borrow this object's memory.
    [[nodiscard]] Segments lend() const;
};

/// Number of successive segments in a slice. It equals the number of lanes in a warp.
inline constexpr std::int64_t kSliceSegments = 32;

/// The lengths of the shortest and of the longest segment; zeros if there are no segments.
///
/// Source of the padding: A. Monakov, A. Lokhmotov, A. Avetisyan, "Automatically Tuning Sparse Matrix-Vector
/// Multiplication for GPU Architectures", HiPEAC 2010 (sliced ELLPACK).
struct LengthRange {
    std::int64_t shortest = 0;
    std::int64_t longest = 0;
    /// Number of items if each segment is padded to the longest segment of its slice. It is the work of warps
    /// whose lanes take one segment each and wait for the longest.
    std::int64_t padded = 0;
};
[[nodiscard]] LengthRange length_range(const Segments& segments);

/// Returns the number of items: the sum of the segments' lengths. It differs from num_elements only for
/// ranges. If the sum overflows, returns the largest integer.
std::int64_t num_items(const Segments& segments);

/// The largest number of elements, segments or items for 32-bit indices.
///
/// It is 2^27 below the type's limit. So an index may run past the end by one tile for each block of a grid
/// without overflow.
inline constexpr std::int64_t kMaxNarrowIndex = (std::int64_t{1} << 31) - (std::int64_t{1} << 27);

/// Returns the index width, 32 or 64 bits, for the given counts of elements, segments and items and the
/// uniform length. Data, plans and streams all use this rule.
[[nodiscard]] constexpr int index_bits_for(std::initializer_list<std::int64_t> counts)
{
    return std::ranges::all_of(counts, [](std::int64_t count) { return count <= kMaxNarrowIndex; }) ? 32 : 64;
}

/// Makes one segment of all elements. It is empty if there are no elements.
Segments whole_segments(std::int64_t num_elements);

/// Makes segments of `length` elements each. `length` must be positive, and `num_elements` a multiple of it.
Segments uniform_segments(std::int64_t num_elements, std::int64_t length);

/// Makes segments from S + 1 non-decreasing offsets of any integer type, from 0 to `num_elements`. If the
/// offsets are narrowed to 32 bits and `room` has S + 1 elements of type i32, stores them in `room`.
Segments segments_from_offsets(Array offsets, std::int64_t num_elements, Array room = {});

/// Makes the segments [begins[s], ends[s]). The segments may leave gaps, overlap and come in any order.
Segments segments_from_ranges(Array begins, Array ends, std::int64_t num_elements);

/// Makes segments from S lengths of any integer type, whose sum must be `num_elements`.
Segments segments_from_lengths(const Array& lengths, std::int64_t num_elements);

/// Makes segments from one flag for each element, of type bool or any integer type. Nonzero flags start
/// segments.
///
/// The first element starts a segment even if its flag is 0. Flags cannot express empty segments.
Segments segments_from_flags(Array flags, std::int64_t num_elements);

/// Makes segments from one key for each element, of any type. The segments are the maximal runs of equal
/// neighbours. Sets Segments::keys.
///
/// Keys are equal if their bits are equal. So a NaN continues a run of the same NaN, and 0.0 and -0.0 are
/// different keys.
Segments segments_from_keys(Array keys, std::int64_t num_elements);

/// Converts segments to form flags, or to form keys with keys of i32. Segments must be contiguous and not
/// empty.
Segments given_as(SegmentForm form, const Segments& segments);

/// Converts the indices to the given width, 32 or 64 bits. For callers that choose a specialisation
/// themselves. Throws InputError if 32 bits do not suffice.
Segments with_index_bits(Segments segments, int bits);

}  // namespace segfold
