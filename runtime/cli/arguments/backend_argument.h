#pragma once
// The flags that choose the back end of a workload.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

/// Makes the back end that --backend names.
///
/// Without --backend, makes cuda if there is a GPU. Without a GPU, makes simt if the flags request a CUDA
/// stage or the verb looks for faults in kernels (`finds_faults`), and otherwise cpu. `first_device`, from
/// --devices, replaces --device if the back end takes a device. Throws InputError, or DeviceError if the
/// requested back end cannot run here.
[[nodiscard]] std::unique_ptr<Backend> backend_argument(const Arguments& arguments, bool finds_faults = false,
                                                        std::optional<int> first_device = {});

/// Makes the back end that a verb measures: the one that --backend names, or else the one that `run` uses.
///
/// Throws InputError, or DeviceError if the back end cannot run here. Without --backend, also throws
/// DeviceError if times on this back end would have no meaning.
[[nodiscard]] std::unique_ptr<Backend> timed_backend_argument(const Arguments& arguments);

/// True if the flags make a verb measure the stages for the host's cores. Opens no device.
[[nodiscard]] bool takes_native_stages(const Arguments& arguments);

/// Throws DeviceError if --backend is absent and no device can be measured.
void require_timed_device(const Arguments& arguments);

/// Returns the reason why no device can be measured without --backend; empty if a device can be measured.
/// CUDA's stages are timed only on GPUs.
[[nodiscard]] std::string no_timed_device(bool runs_cuda_stage = false);

}  // namespace segfold::cli
