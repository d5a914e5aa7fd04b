#pragma once
// Checks that the arrays that a call writes share no memory with each other or with the arrays that it reads.
#include <cstdint>
#include <span>
#include <string_view>

#include "dsl/operator.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Memory that a caller lends, with its name for messages.
struct Lent {
    std::string_view what;  ///< "the results of"
    std::string_view name;  ///< follows `what` in quotes, unless it is empty
    const void* data = nullptr;
    std::int64_t bytes = 0;
    Place place = Place::host;

    /// The first `length` elements of an array.
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

/// The arrays of a run, and the sizes of its results.
struct RunArrays {
    const Operator& op;
    std::span<const ArrayView> inputs;
    const SegmentsView& segments;
    std::span<const MutableArrayView> results;  ///< fields, then outputs
    std::int64_t num_results = 0;               ///< numbers of each field
    std::int64_t num_outputs = 0;               ///< numbers of each output of a `map`
    std::int64_t num_keys = 0;                  ///< keys of segments that a run finds
};

/// Throws InputError if two written arrays share memory, or a written array and one that is read, because a
/// run writes while it reads. Written are results and the number and keys of found segments; read are inputs
/// and the arrays of segments.
void require_apart(const RunArrays& run);

}  // namespace segfold
