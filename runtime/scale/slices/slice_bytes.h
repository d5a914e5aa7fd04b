#pragma once
// The memory that a stream's slices take.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Slices in memory at a time if no SliceEngine folds them: one is read, one is folded.
constexpr std::size_t kHostRooms = 2;

/// Bytes that an element or a segment takes, in the memory of all slices at a time.
struct SliceBytes {
    double element = 0;      ///< bytes of an element: columns, flags and keys
    double segment = 0;      ///< bytes of a segment: its end and its results
    double segments = 0;     ///< number of segments for each element, on average or at most
    double copied = 0;       ///< bytes of an element's columns in one slice
    std::int64_t index = 0;  ///< bytes of a segment in a device's arrays that describe segments

    [[nodiscard]] double each() const { return element + segments * segment; }
};

/// True for a column that must be copied to the device, or read into the host's memory.
[[nodiscard]] bool is_copied(const Operator& op, const StreamInput& input, std::size_t i);

/// `has_engine` says that the device has memory of its own. `num_elements` is empty if it is not known.
[[nodiscard]] SliceBytes bytes_of_slices(const Operator& op, const StreamInput& input, bool has_engine,
                                         std::optional<std::int64_t> num_elements);

/// The most segments that may end in a slice of `num_elements` elements, within `usable` bytes. Many empty
/// segments may follow each other; a slice of empty segments alone has no elements. `num_segments` is the
/// number of segments of the stream, empty if it is not known.
[[nodiscard]] std::int64_t segments_of_slice(const SliceBytes& sizes, std::int64_t num_elements,
                                             double usable, bool has_engine,
                                             std::optional<std::int64_t> num_segments);

/// Throws InputError: the part `share` of `memory_bytes` does not hold `least` elements of `bytes` bytes
/// each.
[[noreturn]] void throw_no_room(std::int64_t memory_bytes, double share, double bytes, std::int64_t least);

}  // namespace segfold
