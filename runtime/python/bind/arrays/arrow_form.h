#pragma once
// What the type of an array of Arrow says of its elements, and the ways out of types that are not folded.
#include <cstdint>
#include <string>

#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/python/bind/arrays/arrow_interface.h"

namespace segfold::python {

/// How lists of Arrow say where they lie among the elements.
struct ArrowLists {
    enum class Kind : std::uint8_t {
        none,
        offsets,  ///< each begins where the one before it ends
        views,    ///< where each begins, and its length
        fixed     ///< all are of one length
    };

    Kind kind = Kind::none;
    bool is_large = false;   ///< 64 bits
    std::int64_t width = 0;  ///< of fixed ones
};

/// Numbers, or rows of them; plain or in lists.
struct ArrowForm {
    Type type = Type::f32;
    std::int64_t num_features = 0;  ///< numbers of a row; 0: no rows
    ArrowLists lists;
};

/// The form of an array of this type. Throws InputError for one that `holds` does not allow, or of elements
/// that are not folded, with a way out where there is one. `object` lends the array.
[[nodiscard]] ArrowForm form_of_arrow(const ArrowSchema& schema, nb::handle object, const std::string& what,
                                      Holds holds);

/// Throws InputError for nulls among elements or rows, with the way out.
[[noreturn]] void refuse_arrow_nulls(const ArrowForm& form, std::int64_t count, nb::handle object,
                                     const std::string& what);

/// How the elements of lists are given alone: "pyarrow.compute.list_flatten(x)".
[[nodiscard]] std::string arrow_elements(nb::handle object, const std::string& what);

/// How the elements and the lengths of lists are given apart: "pyarrow.compute.list_flatten(x) with
/// lengths=...".
[[nodiscard]] std::string arrow_lists_apart(nb::handle object, const std::string& what);

}  // namespace segfold::python
