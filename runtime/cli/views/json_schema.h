#pragma once
// The JSON schema of the documents that --json writes.
#include "runtime/cli/views/json.h"

namespace segfold::cli {

/// Returns the schema of all documents, of draft 2020-12. A document is described by the definition of the
/// same name. No reference leaves the schema.
[[nodiscard]] Json json_schema();

}  // namespace segfold::cli
