#pragma once
// Reads the type of an Arrow array, which consists of elements and lists. Gives advice for unsupported types.
#include <cstdint>
#include <string>

#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/python/bind/arrays/arrow_interface.h"

namespace segfold::python {

/// How Arrow encodes lists.
struct ArrowLists {
    enum class Kind : std::uint8_t {
        none,
        offsets,  ///< each list begins where the previous one ends
        views,    ///< each list has a begin and a length
        fixed     ///< all lists have the same length
    };

    Kind kind = Kind::none;
    bool is_large = false;   ///< true if offsets or lengths have 64 bits
    std::int64_t width = 0;  ///< length of each list for `fixed`
};

/// The form of an array: numbers, or rows of numbers, possibly in lists.
struct ArrowForm {
    Type type = Type::f32;
    std::int64_t num_features = 0;  ///< length of a row; 0 for plain numbers
    ArrowLists lists;
};

/// Returns the form of an array of type `schema`. `object` is the array's owner. Throws InputError if `holds`
/// does not allow this form or if segfold does not fold the element type. The message gives advice if there
/// is any.
[[nodiscard]] ArrowForm form_of_arrow(const ArrowSchema& schema, nb::handle object, const std::string& what,
                                      Holds holds);

/// Throws InputError because elements or rows are null. The message gives advice.
[[noreturn]] void refuse_arrow_nulls(const ArrowForm& form, std::int64_t count, nb::handle object,
                                     const std::string& what);

/// Returns an expression for the elements of lists, such as "pyarrow.compute.list_flatten(x)".
[[nodiscard]] std::string arrow_elements(nb::handle object, const std::string& what);

/// Returns an expression for the elements and the lengths of lists, such as "pyarrow.compute.list_flatten(x)
/// with lengths=...".
[[nodiscard]] std::string arrow_lists_apart(nb::handle object, const std::string& what);

}  // namespace segfold::python
