#pragma once
// Implements segfold run --memory, which folds data larger than memory slice by slice.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kStreamFlags[] = {{"memory", "BYTES"}, {"resume"}};

/// Folds the data within the memory limit of --memory. Returns the exit code.
[[nodiscard]] int run_stream(const Arguments& arguments, const Operator& op);

/// Returns the value of --memory in bytes. It may be written as "2G", "512M" or "65536". Throws InputError if
/// it is malformed.
[[nodiscard]] std::int64_t memory_bound(const Arguments& arguments);

}  // namespace segfold::cli
