#pragma once
// --input and --layout as sources of which parts are read.
#include <string>
#include <vector>

#include "runtime/data/workload_request.h"
#include "runtime/scale/stream.h"

namespace segfold::cli {

/// What a stream reads, and where each parameter's values come from.
struct PreparedStream {
    StreamInput input;
    std::vector<std::string> origins;
};

/// Opens the files of a request. Columns without a file are generated as they are read, the same values as
/// for any other run; tables, scalars and the offsets of a generated layout are in memory whole. Throws
/// InputError for what cannot be read in parts: archives, pipes, matrices, ranges, generated tables and the
/// columns that index them.
[[nodiscard]] PreparedStream stream_input(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold::cli
