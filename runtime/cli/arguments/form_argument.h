#pragma once
// Reads --layout for the verbs emit and stages. They need only the form of the segments and the size of keys.
#include <optional>
#include <string>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/session/shipped/form_request.h"

namespace segfold::cli {

/// Returns the size in bytes of a key in the layout "keys=FILE", which is the size of an element of the
/// file's array.
///
/// Returns nothing for other layouts, for missing files, and for standard input and pipes, which only the
/// verb run may read. Throws InputError if the file holds no array.
std::optional<int> key_bytes_of(const std::string& layout);

/// All forms of segments, in the order of SegmentForm.
inline constexpr SegmentForm kForms[] = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                         SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};

}  // namespace segfold::cli
