#pragma once
// Reads a layout from which only the form of the segments is used, for texts that are emitted or exported.
#include <string>

#include "codegen/catalogue.h"

namespace segfold {

/// A form of segments, with typical sizes for the choice of a stage.
struct FormRequest {
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
    bool is_length_given = false;  ///< true if the text gives the segments' length, as "uniform=4"
};

/// Reads a form such as "offsets", "uniform", "uniform=4", "keys" or "geometric", or a complete layout. Files
/// in a layout need not exist.
///
/// Throws InputError like parse_layout(). For groups the form is offsets, because groups are sorted first,
/// unless the requested stage `asked` takes unsorted groups.
FormRequest parse_form(const std::string& text, const Stage* asked = nullptr);

}  // namespace segfold
