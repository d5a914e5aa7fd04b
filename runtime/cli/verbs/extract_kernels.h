#pragma once
// segfold stages --extract: writes the program's stages and parts to files, which a user can edit and pass to
// --kernels.
#include <string>

#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Writes every file of kernels/ below `folder`. Prints which were written, and which already existed with
/// the same text. Throws InputError, before writing anything, if a file exists with another text.
void extract_kernels(const std::string& folder, bool as_json);

}  // namespace segfold::cli
