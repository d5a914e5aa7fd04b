#pragma once
// Arrays of Arrow as elements that lie side by side, and lists as segments of them.
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

/// What an object lends by Arrow's interface, held until this goes.
struct ArrowIn {
    /// Elements of lists are those of `flatten()`: a null list has none, and those behind it are passed over.
    /// They are read where they lie; those of several chunks, and of lists with gaps between them, are copied
    /// together.
    ///
    /// Throws InputError for what ArrayIn() refuses, and for nulls among elements.
    ArrowIn(nb::handle object, const std::string& what, Holds holds);

    Type type = Type::f32;
    const void* data = nullptr;
    std::vector<std::int64_t> sizes;       ///< entries, then numbers of a row
    std::optional<SegmentsView> segments;  ///< what lists say: offsets, or a uniform length
    std::vector<ArrowOwned<ArrowArray>> lent;
    Array elements;  ///< where they were copied
    Array offsets;   ///< where there were none from 0 on
};

/// The segments that arrays of lists say, one for each parameter of an operator or null; null where none
/// holds lists.
///
/// Throws InputError unless all columns hold lists of the same lengths, and where `word` of the call gives
/// segments too.
[[nodiscard]] const SegmentsView* common_lists(const Operator& op, std::span<const ArrayIn* const> arrays,
                                               std::string_view word);

/// Throws InputError where `marks`, which `word` of the call gives, are offsets or ranges of Arrow's beside
/// columns of Arrow's: taken from lists, they count what null lists hide.
void require_no_offsets_of_lists(std::span<const ArrayIn* const> columns, const ArrayIn& marks,
                                 std::string_view word);

}  // namespace segfold::python
