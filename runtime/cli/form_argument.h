#pragma once
// A layout of which only the form counts: what emit and stages need to know.
#include "codegen/catalogue.h"
#include "runtime/cli/arguments.h"

namespace segfold::cli {

/// A form, with a shape that the rule of thumb can choose by.
struct FormRequest {
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
};

/// Reads "offsets", "uniform", "uniform=4", "keys", "geometric", ... and every complete layout; files need
/// not exist.
///
/// Throws InputError as parse_layout does.
FormRequest parse_form(const std::string& text);

/// All forms, in the order of the type.
inline constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                         SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

}  // namespace segfold::cli
