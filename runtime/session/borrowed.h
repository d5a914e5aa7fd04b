#pragma once
// Workloads made of arrays that a caller lends.
#include <optional>
#include <span>
#include <string_view>

#include "runtime/data/shape.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Makes a workload that borrows the caller's arrays on the host. Of groups in any order, it has copies
/// sorted by group. Throws InputError for arrays of a device and for wrong segments.
Workload borrow_workload(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments);

/// Lends other arrays and segments to a workload, whose checked operator stays: a repeated run copies no
/// operator. `inputs` must have an array for each parameter. Throws like borrow_workload(). `room`: see
/// segments_from_offsets().
void borrow_into(Workload& workload, std::span<const ArrayView> inputs, const SegmentsView& segments,
                 Array room);

/// Returns the length of the lent rows; 1 for an operator without rows. Throws InputError if lengths differ,
/// or if rows are lent to a parameter that takes numbers.
std::int64_t num_features_of(const Operator& op, std::span<const ArrayView> inputs);

/// Returns the number of elements of a fold: the length of its first column; without a column, the number
/// that the segments give.
std::int64_t num_elements_of(const Operator& op, std::span<const ArrayView> inputs,
                             const SegmentsView& segments);

/// Finds the segments that flags or keys on the host mark. Throws InputError if the flags or keys are wrong.
Segments found_segments(const SegmentsView& segments, std::int64_t num_elements);

/// Returns the length of the longest segment, as a fold finds it: 0 if there are too many segments to look
/// at. Returns nothing for wrong segments, and if the length is not known without a workload.
std::optional<std::int64_t> longest_segment(const SegmentsView& segments, std::int64_t num_elements);

/// Returns the shape of ranges: the number of their items, and the longest range. Returns nothing for ranges
/// that lie on a device, have no address or are wrong.
std::optional<Shape> shape_of_ranges(const SegmentsView& segments, std::int64_t num_elements);

/// Throws InputError if `longest`, which the caller gives, cannot be the length of a segment.
void require_longest(std::int64_t longest);

/// The most elements of an array. No memory holds more, and the bytes of so many elements fit 64 bits.
inline constexpr std::int64_t kMostLentElements = std::int64_t{1} << 48;

/// Throws InputError if `length` is negative or above kMostLentElements, or if elements have no address.
void require_address(std::string_view what, const void* data, std::int64_t length);

/// Throws InputError if `type` is not a type of the language.
inline void require_type(std::string_view what, Type type)
{
    if (!is_type(type))
        refuse_type(type, what);
}

/// Throws InputError for a layout that callers cannot give by arrays.
[[noreturn]] void refuse_layout(LayoutKind kind);

/// Throws InputError if rows of features are lent to a parameter that takes numbers.
void require_numbers(const Operator& op, const Parameter& parameter, const ArrayView& input);

/// Throws InputError for an operator without a state (moved from, or never defined), and for an operator
/// whose parts do not fit together: its members are public, so a caller may have moved some of them out.
void require_operator(const Operator& op);

/// Throws InputError as require_operator() does, and unless there is one array for each parameter.
void require_inputs(const Operator& op, std::size_t count);

/// Whether the caller has lent memory.
[[nodiscard]] inline bool is_lent(const MutableArrayView& array)
{
    return array.data != nullptr || array.length != 0;
}

/// Writes the number of segments and the key of each, if `into` lends memory for them.
///
/// Throws InputError, before anything is written, if that memory has a wrong type or size.
void store_found(const Segments& found, const SegmentsView& into);

}  // namespace segfold
