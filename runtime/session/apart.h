#pragma once
// What a call writes shares no memory with what it reads, nor with what else it writes.
#include <cstdint>
#include <span>
#include <string_view>

#include "dsl/operator.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Memory that a caller lends, and what messages call it.
struct Lent {
    std::string_view what;  ///< "the results of"
    std::string_view name;  ///< stands behind it in quotes; empty: nothing does
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

/// Throws InputError where two arrays that are written share memory: one would overwrite the other.
void require_apart(const Lent& written, const Lent& other);

/// The arrays of a run, and how far they are written.
struct RunArrays {
    const Operator& op;
    std::span<const ArrayView> inputs;
    const SegmentsView& segments;
    std::span<const MutableArrayView> results;  ///< fields, then outputs
    std::int64_t num_results = 0;               ///< numbers of each field
    std::int64_t num_outputs = 0;               ///< numbers of each output of a `map`
    std::int64_t num_keys = 0;                  ///< keys of segments that a run finds
};

/// Throws InputError where results, or what is told of the segments that were found, share memory with each
/// other, with a column or with the arrays of segments: a run writes while it reads.
void require_apart(const RunArrays& run);

}  // namespace segfold
