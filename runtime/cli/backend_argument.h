#pragma once
// The flags that choose what runs a workload.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

/// The back end of --backend; without it a GPU, or simt where there is none.
///
/// Throws InputError, or DeviceError where the back end that was asked for cannot run here.
[[nodiscard]] std::unique_ptr<Backend> backend_argument(const Arguments& arguments);

}  // namespace segfold::cli
