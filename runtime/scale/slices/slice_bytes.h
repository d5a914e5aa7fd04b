#pragma once
// The memory that a stream's slices take.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Slices at a time if no engine folds them: one is read, one is folded.
constexpr std::size_t kHostRooms = 2;

/// Bytes of all rooms together.
struct SliceBytes {
    double element = 0;      ///< of columns, flags and keys
    double segment = 0;      ///< its end and its results
    double segments = 0;     ///< for each element, on average or at most
    double copied = 0;       ///< of an element's columns, in one room
    std::int64_t index = 0;  ///< of a segment, in a device's arrays that describe segments

    [[nodiscard]] double each() const { return element + segments * segment; }
};

/// True for a column that must be copied to the device, or read into the host's memory.
[[nodiscard]] bool is_copied(const Operator& op, const StreamInput& input, std::size_t i);

/// `has_engine`: the device has memory of its own. `num_elements`: if it is known.
[[nodiscard]] SliceBytes bytes_of_slices(const Operator& op, const StreamInput& input, bool has_engine,
                                         std::optional<std::int64_t> num_elements);

/// The most segments that may end in a slice of `num_elements`, within `usable` bytes. Any number of empty
/// segments may follow each other, and a slice of them alone has no elements. `num_segments`: of the stream,
/// if it is known.
[[nodiscard]] std::int64_t segments_of_slice(const SliceBytes& sizes, std::int64_t num_elements,
                                             double usable, bool has_engine,
                                             std::optional<std::int64_t> num_segments);

/// Throws InputError: `share` of `memory_bytes` does not hold `least` elements of `bytes` each.
[[noreturn]] void throw_no_room(std::int64_t memory_bytes, double share, double bytes, std::int64_t least);

}  // namespace segfold
