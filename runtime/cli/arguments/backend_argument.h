#pragma once
// Reads the flags that choose a workload's back end.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

/// Makes the back end that --backend names.
///
/// Without --backend, makes cuda if there is a GPU. If there is none, makes simt if the flags request a CUDA
/// stage or `finds_faults` is true (the verb looks for faults in kernels), and otherwise cpu. `first_device`
/// comes from --devices and replaces --device if the back end has devices. Throws InputError if flags are
/// wrong, DeviceError if the requested back end cannot run here.
[[nodiscard]] std::unique_ptr<Backend> backend_argument(const Arguments& arguments, bool finds_faults = false,
                                                        std::optional<int> first_device = {});

/// Makes the back end whose times a verb measures. This is the back end that --backend names, or else the one
/// that the verb run uses.
///
/// Throws InputError, or DeviceError if the back end cannot run here. Without --backend, also throws
/// DeviceError if times on this back end are meaningless.
[[nodiscard]] std::unique_ptr<Backend> timed_backend_argument(const Arguments& arguments);

/// True if the flags select the stages for the host's cores. Opens no device.
[[nodiscard]] bool takes_native_stages(const Arguments& arguments);

/// Throws DeviceError if --backend is absent and times of the default device are meaningless.
void require_timed_device(const Arguments& arguments);

/// Returns the reason why --backend must be given to time anything; empty if it need not be given. CUDA
/// stages are timed only on GPUs.
[[nodiscard]] std::string no_timed_device(bool runs_cuda_stage = false);

}  // namespace segfold::cli
