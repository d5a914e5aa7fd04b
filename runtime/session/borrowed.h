#pragma once
// Makes workloads from a caller's arrays, and checks the arrays.
#include <optional>
#include <span>
#include <string_view>

#include "runtime/data/shape.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Makes a workload that borrows the caller's arrays on the host. For groups in any order, the workload has
/// copies sorted by group. Throws InputError for arrays on a device and for invalid segments.
Workload borrow_workload(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments);

/// Like borrow_workload(), but does not sort elements by group. For kernels that read group numbers.
Workload borrow_as_they_lie(const Operator& op, std::span<const ArrayView> inputs,
                            const SegmentsView& segments);

/// Borrows the segments of a fold of `op` over rows of `num_features` numbers. Throws InputError for arrays
/// on a device and for invalid segments. If kernels need the offsets as i32 and `room` is an i32 array of
/// their length, writes them to `room`.
Segments borrow_segments(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                         std::int64_t num_features, Array room = {});

/// Returns the number of features in a row of the inputs; 1 for an operator without rows. Throws InputError
/// if rows have different lengths, or if rows are given for a parameter that takes single numbers.
std::int64_t num_features_of(const Operator& op, std::span<const ArrayView> inputs);

/// Returns the number of elements of a fold: the length of its first column. If it has no column, the
/// segments give the number.
std::int64_t num_elements_of(const Operator& op, std::span<const ArrayView> inputs,
                             const SegmentsView& segments);

/// Returns the segments that flags or keys on the host mark. Throws InputError if the flags or keys are
/// invalid.
Segments found_segments(const SegmentsView& segments, std::int64_t num_elements);

/// Returns the length of the longest segment; 0 if there are too many segments to search. Returns nothing for
/// invalid segments, and for layouts whose segments are known only once a workload is made.
std::optional<std::int64_t> longest_segment(const SegmentsView& segments, std::int64_t num_elements);

/// Returns the shape of ranges: the sum of their lengths, and the longest length. Returns nothing if the
/// ranges are on a device, have no address or are invalid.
std::optional<Shape> shape_of_ranges(const SegmentsView& segments, std::int64_t num_elements);

/// Throws InputError if `longest`, a caller's longest segment, cannot be a length.
void require_longest(std::int64_t longest);

/// Largest number of elements in an array that a caller lends. No memory holds more, and the number of bytes
/// fits 64 bits.
inline constexpr std::int64_t kMostLentElements = std::int64_t{1} << 48;

/// Throws InputError if `length` is negative or above kMostLentElements, or if `data` is null and `length` is
/// not 0.
void require_address(std::string_view what, const void* data, std::int64_t length);

/// Throws InputError if `type` is not a type of the language.
inline void require_type(std::string_view what, Type type)
{
    if (!is_type(type))
        refuse_type(type, what);
}

/// Throws InputError, because a caller's arrays cannot describe segments of this layout.
[[noreturn]] void refuse_layout(LayoutKind kind);

/// Throws InputError if rows are given for a parameter that takes single numbers.
void require_numbers(const Operator& op, const Parameter& parameter, const ArrayView& input);

/// Throws InputError for an operator without a state, and for an operator whose parts do not fit together.
/// Both can happen, because the members of Operator are public and can be moved from.
void require_operator(const Operator& op);

/// Throws like require_operator(). Also throws InputError if `count`, the number of arrays, is not the number
/// of parameters.
void require_inputs(const Operator& op, std::size_t count);

/// True if `array` describes memory of the caller. False for the default MutableArrayView.
[[nodiscard]] inline bool is_lent(const MutableArrayView& array)
{
    return array.data != nullptr || array.length != 0;
}

/// Writes the number and the keys of the segments that flags or keys mark, to the memory that `into` lends
/// for them, if any.
///
/// Throws InputError before it writes anything if that memory has a wrong type or size.
void store_found(const Segments& found, const SegmentsView& into);

}  // namespace segfold
