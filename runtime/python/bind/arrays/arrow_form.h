#pragma once
// Reads the type of an Arrow array: its elements and lists. Gives advice for types that are not folded.
#include <cstdint>
#include <string>

#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/python/bind/arrays/arrow_interface.h"

namespace segfold::python {

/// The encoding of Arrow's lists.
struct ArrowLists {
    enum class Kind : std::uint8_t {
        none,
        offsets,  ///< offsets: each list begins where the previous list ends
        views,    ///< a begin and a length for each list
        fixed     ///< all lists have one length
    };

    Kind kind = Kind::none;
    bool is_large = false;   ///< true if offsets or lengths have 64 bits
    std::int64_t width = 0;  ///< the length of fixed lists
};

/// The form of an array: numbers or rows of numbers, plain or in lists.
struct ArrowForm {
    Type type = Type::f32;
    std::int64_t num_features = 0;  ///< length of a row; 0 for plain numbers
    ArrowLists lists;
};

/// Returns the form of an array of type `schema`. `object` lends the array. Throws InputError if `holds` does
/// not allow the form, or if segfold does not fold the type of the elements. Adds advice if there is any.
[[nodiscard]] ArrowForm form_of_arrow(const ArrowSchema& schema, nb::handle object, const std::string& what,
                                      Holds holds);

/// Throws InputError because elements or rows are null. Adds advice.
[[noreturn]] void refuse_arrow_nulls(const ArrowForm& form, std::int64_t count, nb::handle object,
                                     const std::string& what);

/// Returns an expression for the elements of lists: "pyarrow.compute.list_flatten(x)".
[[nodiscard]] std::string arrow_elements(nb::handle object, const std::string& what);

/// Returns an expression for the elements and the lengths of lists: "pyarrow.compute.list_flatten(x) with
/// lengths=...".
[[nodiscard]] std::string arrow_lists_apart(nb::handle object, const std::string& what);

}  // namespace segfold::python
