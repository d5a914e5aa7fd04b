#pragma once
// Where segments begin and end, checked, in the form that kernels read.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "dsl/array.h"
#include "dsl/layout.h"

namespace segfold {

/// How the elements 0 .. num_elements - 1 are cut into segments.
///
/// Made by the functions below, which check everything a kernel relies on. Index arrays hold i32 where
/// `index_bits()` is 32 and i64 where it is 64. The forms flags and keys hold offsets too: for the reference,
/// and for stages that do not take these forms.
struct Segments {
    SegmentForm form = SegmentForm::whole;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::int64_t uniform_length = 0;  ///< form uniform
    Array offsets;    ///< forms offsets, flags, keys: [num_segments + 1], first 0, non-decreasing, last
                      ///< num_elements
    Array begins;     ///< form ranges: [num_segments]
    Array ends;       ///< form ranges: [num_segments], end >= begin
    Array flags;      ///< form flags: [num_elements] of u8, the first not 0
    Array item_keys;  ///< form keys: [num_elements] of any type
    std::optional<Array> keys;  ///< form keys: the key of each run [num_segments]
    bool has_wide_indices = false;

    /// Width of an index: 32 if elements, segments and the sum of lengths fit with room to spare, else 64.
    [[nodiscard]] int index_bits() const { return has_wide_indices ? 64 : 32; }
    [[nodiscard]] Type index_type() const { return has_wide_indices ? Type::i64 : Type::i32; }

    /// First element of a segment.
    [[nodiscard]] std::int64_t begin(std::int64_t segment) const;
    /// One past the last element of a segment.
    [[nodiscard]] std::int64_t end(std::int64_t segment) const;
    [[nodiscard]] std::int64_t length(std::int64_t segment) const { return end(segment) - begin(segment); }

    [[nodiscard]] Segments copy() const;
};

/// As many neighbouring segments as a warp has lanes.
inline constexpr std::int64_t kSliceSegments = 32;

/// The lengths of the shortest and of the longest segment; zeros where there is none.
///
/// Source of the padding: A. Monakov, A. Lokhmotov, A. Avetisyan, "Automatically Tuning Sparse Matrix-Vector
/// Multiplication for GPU Architectures", HiPEAC 2010 (sliced ELLPACK).
struct LengthRange {
    std::int64_t shortest = 0;
    std::int64_t longest = 0;
    /// Items if each segment were as long as the longest of its slice, kSliceSegments neighbours: what the
    /// lanes of a warp walk, or wait for, where each takes one segment.
    std::int64_t padded = 0;
};
[[nodiscard]] LengthRange length_range(const Segments& segments);

/// Number of items: elements counted along the segments, which differs from num_elements only for ranges. The
/// largest integer where there are more.
std::int64_t num_items(const Segments& segments);

/// Largest number of elements, of segments, and of elements in all ranges that 32-bit indices are chosen for.
///
/// 2^27 below the type's limit, so that an index may run past the end by a tile of every block of a grid
/// without overflow.
inline constexpr std::int64_t kMaxNarrowIndex = (std::int64_t{1} << 31) - (std::int64_t{1} << 27);

/// The width of indices, 32 or 64, where so much is counted. Data, plans and streams ask this alone, of all
/// that they count: elements, segments, items and the uniform length.
[[nodiscard]] constexpr int index_bits_for(std::initializer_list<std::int64_t> counts)
{
    return std::ranges::all_of(counts, [](std::int64_t count) { return count <= kMaxNarrowIndex; }) ? 32 : 64;
}

/// One segment of all elements; also when there are none.
Segments whole_segments(std::int64_t num_elements);

/// Segments of `length` elements each; `num_elements` must be a multiple of `length`, which must be positive.
Segments uniform_segments(std::int64_t num_elements, std::int64_t length);

/// Segments from S + 1 non-decreasing offsets of any integer type, first 0, last `num_elements`. Where they
/// must be converted, `room` may be an array to convert them into, of as many.
Segments segments_from_offsets(Array offsets, std::int64_t num_elements, Array room = {});

/// Segments [begins[s], ends[s]), which may leave gaps, overlap and come in any order.
Segments segments_from_ranges(Array begins, Array ends, std::int64_t num_elements);

/// Segments from S lengths of any integer type that add up to `num_elements`.
Segments segments_from_lengths(const Array& lengths, std::int64_t num_elements);

/// Segments from one flag per element (bool or any integer type), non-zero where a segment starts.
///
/// The first element starts a segment whatever its flag is. Empty segments cannot be expressed.
Segments segments_from_flags(Array flags, std::int64_t num_elements);

/// Segments from one key per element, of any type: the maximal runs of equal neighbours; fills
/// `Segments::keys`.
///
/// Keys are equal when their bits are: a NaN continues a run of the same NaN, and 0.0 and -0.0 are different
/// keys.
Segments segments_from_keys(Array keys, std::int64_t num_elements);

/// The same segments given as flags or as keys of type i32; all must be contiguous and none empty.
Segments given_as(SegmentForm form, const Segments& segments);

/// The same segments with indices of the given width, 32 or 64, to choose a specialisation by hand.
///
/// Throws InputError if 32 bits do not suffice.
Segments with_index_bits(Segments segments, int bits);

}  // namespace segfold
