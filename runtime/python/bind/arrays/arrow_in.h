#pragma once
// Reads Arrow arrays as contiguous elements, and Arrow lists as segments of these elements.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"
#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/python/bind/arrays/arrow_interface.h"
#include "runtime/session/segments_view.h"

namespace segfold::python {

/// The memory that an object provides through Arrow's interface. It stays valid as long as this object lives.
struct ArrowIn {
    /// Reads the elements as PyArrow's `flatten()` does: a null list has no elements, even if its offsets
    /// span some. Copies elements only if they are in several chunks, or if there are gaps between lists.
    ///
    /// Throws InputError in the same cases as ArrayIn(), and if elements are null.
    ArrowIn(nb::handle object, const std::string& what, Holds holds);

    Type type = Type::f32;
    const void* data = nullptr;
    std::vector<std::int64_t> sizes;       ///< number of entries, then the length of a row if there are rows
    std::optional<SegmentsView> segments;  ///< lists as segments: offsets or a uniform length
    std::vector<ArrowOwned<ArrowArray>> lent;
    Array elements;  ///< copied elements, if a copy was needed
    Array offsets;   ///< new offsets, if the array has none that begin with 0
};

/// Returns the segments given by the lists of `arrays`; null if no array has lists. `arrays` has one entry
/// per parameter, which may be null.
///
/// Throws InputError if some column has no lists or lists of other lengths, or if the argument `word` of the
/// call gives segments too.
[[nodiscard]] const SegmentsView* common_lists(const Operator& op, std::span<const ArrayIn* const> arrays,
                                               std::string_view word);

/// Throws InputError if both `marks` and the columns are Arrow arrays. `marks` are the segments of the
/// argument `word`. Offsets taken from Arrow lists may count the elements of null lists, which columns leave
/// out.
void require_no_offsets_of_lists(std::span<const ArrayIn* const> columns, const ArrayIn& marks,
                                 std::string_view word);

}  // namespace segfold::python
