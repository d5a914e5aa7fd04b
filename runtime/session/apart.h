#pragma once
// Refuses calls whose written arrays share memory with each other or with arrays that the call reads.
#include <cstdint>
#include <span>
#include <string_view>

#include "dsl/operator.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Memory that a caller lends to a call. Messages call it by `what` and `name`.
struct Lent {
    std::string_view what;  ///< such as "the results of"
    std::string_view name;  ///< shown in quotes after `what`; empty if there is no name
    const void* data = nullptr;
    std::int64_t bytes = 0;
    Place place = Place::host;

    /// Describes the memory of the first `length` elements of an array.
    Lent(std::string_view what, std::string_view name, const ArrayView& array, std::int64_t length)
        : what(what),
          name(name),
          data(array.data),
          bytes(length * static_cast<std::int64_t>(size_bytes(array.type))),
          place(array.place)
    {}
};

/// Throws InputError if `written` and `other` share memory.
void require_apart(const Lent& written, const Lent& other);

/// The arrays of a plan's run, and the lengths of its results.
struct RunArrays {
    const Operator& op;
    std::span<const ArrayView> inputs;
    const SegmentsView& segments;
    std::span<const MutableArrayView> results;  ///< one array per result field, then one per output
    std::int64_t num_results = 0;               ///< length of each result field
    std::int64_t num_outputs = 0;               ///< length of each output of a `map`
    std::int64_t num_keys = 0;                  ///< length of the array for keys of found segments
};

/// Throws InputError if a written array shares memory with another written array or with a read array,
/// because a run writes while it reads. A run writes the results, and the number and keys of found segments.
/// It reads the inputs and the arrays of segments.
void require_apart(const RunArrays& run);

}  // namespace segfold
