#pragma once
// A layout of which only the form of the segments counts, as for texts that are emitted or shipped.
#include <string>

#include "codegen/catalogue.h"

namespace segfold {

/// A form of segments, with typical sizes for the choice of a stage.
struct FormRequest {
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
    bool is_length_given = false;  ///< true for "uniform=4": `shape` has segments of this length
};

/// Reads a form such as "offsets", "uniform", "uniform=4", "keys" or "geometric", or a complete layout. Files
/// need not exist.
///
/// Throws InputError like parse_layout(). The form of groups is offsets, because groups are sorted first,
/// unless the stage `asked` takes unsorted groups.
FormRequest parse_form(const std::string& text, const Stage* asked = nullptr);

}  // namespace segfold
