#pragma once
// What a slice of a stream takes of the memory that the stream may take.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dsl/operator.h"
#include "runtime/scale/stream.h"

namespace segfold {

/// Slices on their way at a time, where no device of its own folds them: one is read, one is folded.
constexpr std::size_t kHostRooms = 2;

/// Bytes, all rooms together.
struct SliceBytes {
    double element = 0;      ///< of columns, and of what says segments element by element
    double segment = 0;      ///< where it ends, and its results
    double segments = 0;     ///< in an element, on average or at most
    double copied = 0;       ///< of an element's columns, in one room
    std::int64_t index = 0;  ///< of the arrays that a device is told a segment by

    [[nodiscard]] double each() const { return element + segments * segment; }
};

/// Whether a parameter is a column that has to be brought to where it is folded.
[[nodiscard]] bool is_copied(const Operator& op, const StreamInput& input, std::size_t i);

/// `has_engine` for a device with memory of its own; `num_elements` as far as it is known.
[[nodiscard]] SliceBytes bytes_of_slices(const Operator& op, const StreamInput& input, bool has_engine,
                                         std::optional<std::int64_t> num_elements);

/// How many of a stream's `num_segments` (where they are known) may end in a slice of `num_elements`, within
/// `usable` bytes. Any number of empty ones may follow each other, and a slice of them has no elements.
[[nodiscard]] std::int64_t segments_of_slice(const SliceBytes& sizes, std::int64_t num_elements,
                                             double usable, bool has_engine,
                                             std::optional<std::int64_t> num_segments);

/// Refuses a bound of `memory_bytes`, of which slices may take the part `share`: less than the `least`
/// elements of a slice, of `bytes` each, fit.
[[noreturn]] void throw_no_room(std::int64_t memory_bytes, double share, double bytes, std::int64_t least);

}  // namespace segfold
