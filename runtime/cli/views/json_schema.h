#pragma once
// The JSON schema of the documents of --json.
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// The schema of all documents, draft 2020-12. A document is described by the definition that has its name;
/// no schema refers to anything outside.
[[nodiscard]] Json json_schema();

}  // namespace segfold::cli
