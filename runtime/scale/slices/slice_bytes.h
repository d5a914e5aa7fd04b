#pragma once
// Computes the memory for the slices of a stream.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Number of slices in memory if there is no SliceEngine: one slice is read while another slice is folded.
constexpr std::size_t kHostRooms = 2;

/// Bytes per element and per segment, summed over all slices in memory.
struct SliceBytes {
    double element = 0;      ///< bytes of an element: columns, flags and keys
    double segment = 0;      ///< bytes of a segment: its end and its results
    double segments = 0;     ///< expected segments per element, or a bound on them
    double copied = 0;       ///< bytes of an element's columns in one slice
    std::int64_t index = 0;  ///< bytes of a segment in the device's arrays of segments

    [[nodiscard]] double each() const { return element + segments * segment; }
};

/// True if parameter `i` is a column that must be copied to the device or read into the host's memory.
[[nodiscard]] bool is_copied(const Operator& op, const StreamInput& input, std::size_t i);

/// Returns the bytes of a stream's elements and segments. `has_engine` is true if the device has its own
/// memory. `num_elements` is empty if it is unknown.
[[nodiscard]] SliceBytes bytes_of_slices(const Operator& op, const StreamInput& input, bool has_engine,
                                         std::optional<std::int64_t> num_elements);

/// Returns the most segments that may end in a slice of `num_elements` elements, within `usable` bytes. A
/// slice may consist of empty segments alone. `num_segments` is the number of segments of the stream; empty
/// if it is unknown.
[[nodiscard]] std::int64_t segments_of_slice(const SliceBytes& sizes, std::int64_t num_elements,
                                             double usable, bool has_engine,
                                             std::optional<std::int64_t> num_segments);

/// Throws InputError, because `share` times `memory_bytes` does not suffice for `least` elements of `bytes`
/// bytes each.
[[noreturn]] void throw_no_room(std::int64_t memory_bytes, double share, double bytes, std::int64_t least);

}  // namespace segfold
