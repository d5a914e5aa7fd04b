#pragma once
// Workloads made of arrays that a caller lends.
#include <optional>
#include <span>
#include <string_view>

#include "runtime/data/shape.h"
#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// The workload of arrays of the host, which it borrows. Throws InputError for arrays of a device, and for
/// segments that are wrong. `room`: see segments_from_offsets().
Workload borrow_workload(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                         Array room = {});

/// The length of the rows that are lent; 1 for an operator without rows. Throws InputError where they differ,
/// and for rows that are lent to parameters that take numbers.
std::int64_t num_features_of(const Operator& op, std::span<const ArrayView> inputs);

/// Elements that a fold of these arrays has: the length of its first column, else what the segments say.
std::int64_t num_elements_of(const Operator& op, std::span<const ArrayView> inputs,
                             const SegmentsView& segments);

/// The segments that flags or keys of the host mark. Throws InputError where they are wrong.
Segments found_segments(const SegmentsView& segments, std::int64_t num_elements);

/// The length of the longest segment as a fold would look at it: 0 where there are too many to be asked.
/// Nothing where it cannot be told without a workload, and for segments that are wrong.
std::optional<std::int64_t> longest_segment(const SegmentsView& segments, std::int64_t num_elements);

/// The shape of ranges, of which a plan's sizes say little: how many items they hold, and the longest.
/// Nothing where they lie on a device, have no address, or are wrong.
std::optional<Shape> shape_of_ranges(const SegmentsView& segments, std::int64_t num_elements);

/// Throws InputError for a caller's length of the longest segment that is none.
void require_longest(std::int64_t longest);

/// No memory has more elements; products of a length that is no greater with the bytes of an element stay
/// within 64 bits.
inline constexpr std::int64_t kMostLentElements = std::int64_t{1} << 48;

/// Throws InputError for a length that is negative or that no memory has, and for elements without an
/// address.
void require_address(std::string_view what, const void* data, std::int64_t length);

/// Throws InputError for a type that is none of the language's.
inline void require_type(std::string_view what, Type type)
{
    if (!is_type(type))
        refuse_type(type, what);
}

/// Throws InputError for a layout of which a caller lends no arrays.
[[noreturn]] void refuse_layout(LayoutKind kind);

/// Throws InputError for rows of features that are lent to a parameter that takes numbers.
void require_numbers(const Operator& op, const Parameter& parameter, const ArrayView& input);

/// Throws InputError for an operator without a state, one that was moved from, or never defined, and for one
/// whose parts do not fit together, as its members are public and may have been moved out.
void require_operator(const Operator& op);

/// Throws InputError unless there is an array for each parameter, and for an operator that is none.
void require_inputs(const Operator& op, std::size_t count);

/// Whether the caller has lent memory.
[[nodiscard]] inline bool is_lent(const MutableArrayView& array)
{
    return array.data != nullptr || array.length != 0;
}

/// Writes how many segments there are, and the key of each, where `into` lends memory for them.
///
/// Throws InputError where that does not fit; nothing is written then.
void store_found(const Segments& found, const SegmentsView& into);

}  // namespace segfold
