#pragma once
// The JSON schema of the documents of --json.
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns the schema of all documents, draft 2020-12. The definition with a document's name describes that
/// document. Nothing refers outside of the schema.
[[nodiscard]] Json json_schema();

}  // namespace segfold::cli
