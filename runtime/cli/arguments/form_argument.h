#pragma once
// Reads a layout of which only the form and the width of keys matter, for emit and stages.
#include <optional>

#include "codegen/catalogue.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// A form with a shape that the rule of thumb can use.
struct FormRequest {
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
};

/// Reads a form such as "offsets", "uniform", "uniform=4", "keys" or "geometric", or a complete layout. Files
/// need not exist.
///
/// Throws InputError like parse_layout().
/// Groups are sorted, so that the form is offsets, unless `asked` is a stage that takes them as they lie.
FormRequest parse_form(const std::string& text, const Stage* asked = nullptr);

/// Returns the bytes of a key in layout "keys=FILE", from the type of the file's array.
///
/// Returns nothing for other layouts, for standard input and pipes, which only a run may read, and if the
/// file does not exist.
///
/// Throws InputError if the file is no array.
std::optional<int> key_bytes_of(const std::string& layout);

/// All forms, in the order of SegmentForm.
inline constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                         SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

}  // namespace segfold::cli
