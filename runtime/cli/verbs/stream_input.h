#pragma once
// Opens --input and --layout as sources that can be read in parts.
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"
#include "runtime/scale/stream.h"

namespace segfold::cli {

/// The input of a stream, and a description of the origin of each parameter's values.
struct PreparedStream {
    StreamInput input;
    std::vector<std::string> origins;
};

/// Opens the sources that a request names.
///
/// Columns without a file are generated while they are read, with the same values as in a run without
/// --memory. Tables, scalars and the offsets of a generated layout are whole in memory. Throws InputError for
/// input that cannot be read in parts: archives, pipes, matrices, ranges, generated tables and columns of
/// indices into them.
[[nodiscard]] PreparedStream stream_input(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold::cli
