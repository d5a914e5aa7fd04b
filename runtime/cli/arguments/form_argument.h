#pragma once
// Reads --layout for the verbs emit and stages, which need only the form of the segments and the width of
// keys.
#include <optional>

#include "codegen/catalogue.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// A form of segments, with typical sizes for the choice of a stage.
struct FormRequest {
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
};

/// Reads a form such as "offsets", "uniform", "uniform=4", "keys" or "geometric", or a complete layout. Files
/// need not exist.
///
/// Throws InputError like parse_layout(). The form of groups is offsets, because groups are sorted first,
/// unless the stage `asked` takes unsorted groups.
FormRequest parse_form(const std::string& text, const Stage* asked = nullptr);

/// Returns the bytes of a key in layout "keys=FILE", from the type of the file's array.
///
/// Returns nothing for other layouts and for a missing file. Also returns nothing for standard input and
/// pipes, which only the verb run may read.
///
/// Throws InputError if the file holds no array.
std::optional<int> key_bytes_of(const std::string& layout);

/// All forms, in the order of SegmentForm.
inline constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                         SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

}  // namespace segfold::cli
