#pragma once
// Returns the JSON schema of the documents that --json writes.
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns a schema in JSON Schema draft 2020-12 with a definition for each document, under the document's
/// name. All references stay within the schema.
[[nodiscard]] Json json_schema();

}  // namespace segfold::cli
