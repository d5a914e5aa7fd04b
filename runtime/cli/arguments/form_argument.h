#pragma once
// The form of a layout and the width of keys, for emit and stages.
#include <optional>

#include "codegen/catalogue.h"
#include "runtime/cli/arguments/arguments.h"

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

/// The bytes of a key of "keys=FILE", from the array's type; nothing for other layouts, for standard input
/// and pipes, which a run reads, and if the file does not exist.
///
/// Throws InputError for a file that is no array.
std::optional<int> key_bytes_of(const std::string& layout);

/// All forms, in the order of the type.
inline constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                         SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

}  // namespace segfold::cli
