#pragma once
// --input and --layout as sources that are read in parts.
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"
#include "runtime/scale/stream.h"

namespace segfold::cli {

/// Sources of a stream, and the origin of each parameter's values.
struct PreparedStream {
    StreamInput input;
    std::vector<std::string> origins;
};

/// Opens the files of a request. Columns without a file are generated as they are read, the same values as
/// for any other run; tables, scalars and the offsets of a generated layout are in memory whole. Throws
/// InputError for sources that cannot be read in parts: archives, pipes, matrices, ranges, generated tables
/// and the columns that index them.
[[nodiscard]] PreparedStream stream_input(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold::cli
