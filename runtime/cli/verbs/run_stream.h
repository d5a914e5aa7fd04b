#pragma once
// segfold run --memory: data longer than memory, folded slice by slice.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kStreamFlags[] = {{"memory", "BYTES"}, {"resume"}};

/// The exit code of a run that --memory bounds.
[[nodiscard]] int run_stream(const Arguments& arguments, const Operator& op);

/// The bytes of --memory: "2G", "512M", "65536". Throws InputError.
[[nodiscard]] std::int64_t memory_bound(const Arguments& arguments);

}  // namespace segfold::cli
