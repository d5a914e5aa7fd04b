#pragma once
// Reads --layout for the verbs emit and stages, which need only the form of the segments and the width of
// keys.
#include <optional>
#include <string>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/session/shipped/form_request.h"

namespace segfold::cli {

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
