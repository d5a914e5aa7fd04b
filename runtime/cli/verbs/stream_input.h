#pragma once
// Opens the data of --input and --layout as sources that can be read in parts.
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"
#include "runtime/scale/stream.h"

namespace segfold::cli {

/// The input of a stream, and for each parameter a description of the origin of its values.
struct PreparedStream {
    StreamInput input;
    std::vector<std::string> origins;
};

/// Opens the sources of a request.
///
/// Columns without a file are generated while they are read, with the same values as in a run without
/// --memory. Tables, scalars, and the offsets of a generated layout are held in memory as a whole.
///
/// Throws InputError for input that cannot be read in parts: archives, pipes, matrices, ranges, generated
/// tables, and generated columns of table indices.
[[nodiscard]] PreparedStream stream_input(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold::cli
