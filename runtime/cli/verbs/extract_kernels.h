#pragma once
// segfold stages --extract: the stages and parts of the program as files, to be edited and given to
// --kernels.
#include <string>

#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Writes every file of kernels/ below `folder`, and prints which were written and which were there with the
/// same text. Throws InputError, before anything is written, if a file is there with another text.
void extract_kernels(const std::string& folder, bool as_json);

}  // namespace segfold::cli
