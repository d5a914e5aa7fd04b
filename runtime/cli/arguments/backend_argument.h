#pragma once
// The flags that choose the back end of a workload.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

/// Makes the back end that --backend names.
///
/// Without --backend it is the GPU's if there is a GPU; else simt if a CUDA stage is requested or the verb
/// looks for faults in kernels; else cpu. `first_device`, from --devices, replaces --device if the back end
/// takes a device. Throws InputError, or DeviceError if the requested back end cannot run here.
[[nodiscard]] std::unique_ptr<Backend> backend_argument(const Arguments& arguments, bool finds_faults = false,
                                                        std::optional<int> first_device = {});

/// Makes the back end that a verb measures: that of --backend; without the flag, the one that a run uses.
///
/// Throws InputError, or DeviceError if it cannot run here. Without --backend, also throws DeviceError if the
/// times of that back end would mean nothing.
[[nodiscard]] std::unique_ptr<Backend> timed_backend_argument(const Arguments& arguments);

/// Whether a verb measures the stages of the host's cores. Can be called before a device is looked for.
[[nodiscard]] bool takes_native_stages(const Arguments& arguments);

/// Throws DeviceError if no back end is requested and no device can be measured.
void require_timed_device(const Arguments& arguments);

/// Returns why no device can be measured by default; empty if one can. Stages of CUDA are timed only on GPUs.
[[nodiscard]] std::string no_timed_device(bool runs_cuda_stage = false);

}  // namespace segfold::cli
