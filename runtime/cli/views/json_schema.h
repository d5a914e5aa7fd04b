#pragma once
// Gives the JSON schema of the documents that --json writes.
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns the schema of all documents, in draft 2020-12 of JSON Schema. The definition with a document's
/// name describes this document. All references stay within the schema.
[[nodiscard]] Json json_schema();

}  // namespace segfold::cli
