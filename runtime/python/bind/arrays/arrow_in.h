#pragma once
// Reads Arrow arrays as elements that lie side by side, and Arrow lists as segments of these elements.
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

/// Memory that an object lends by Arrow's interface. It is held as long as this object lives.
struct ArrowIn {
    /// Reads the elements as PyArrow's `flatten()` does: a null list has no elements, even if its offsets
    /// span some. Copies elements only if they lie in several chunks, or if there are gaps between lists.
    ///
    /// Throws InputError like ArrayIn(), and for nulls among elements.
    ArrowIn(nb::handle object, const std::string& what, Holds holds);

    Type type = Type::f32;
    const void* data = nullptr;
    std::vector<std::int64_t> sizes;       ///< number of entries, then the length of a row
    std::optional<SegmentsView> segments;  ///< the lists as segments: offsets, or a uniform length
    std::vector<ArrowOwned<ArrowArray>> lent;
    Array elements;  ///< the elements, if they were copied
    Array offsets;   ///< the offsets, if the lender has none that begin with 0
};

/// Returns the segments that the lists of `arrays` form; null if no array holds lists. `arrays` has one array
/// or null for each parameter.
///
/// Throws InputError if not all columns hold lists of the same lengths. Also throws if `word`, an argument of
/// the call, gives segments too.
[[nodiscard]] const SegmentsView* common_lists(const Operator& op, std::span<const ArrayIn* const> arrays,
                                               std::string_view word);

/// Throws InputError if `marks` and the columns are arrays of Arrow. `marks` are the segments that argument
/// `word` gives. Offsets taken from lists would also count elements of null lists.
void require_no_offsets_of_lists(std::span<const ArrayIn* const> columns, const ArrayIn& marks,
                                 std::string_view word);

}  // namespace segfold::python
