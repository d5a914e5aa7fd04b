#pragma once
// The flags that choose the back end.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kBackendFlags[] = {{"backend", "BACKEND"}, {"device", "N"}, {"schedule-seed", "N"}};

/// The back end of --backend; without it a GPU, or cpu without one; simt if a stage of CUDA is asked for, and
/// for verbs that find faults in kernels. `first_device` of --devices stands for --device if the back end
/// takes one.
///
/// Throws InputError, or DeviceError if the wanted back end cannot run here.
[[nodiscard]] std::unique_ptr<Backend> backend_argument(const Arguments& arguments, bool finds_faults = false,
                                                        std::optional<int> first_device = {});

/// The back end that a verb measures: that of --backend, without it the one that a run takes.
///
/// Throws InputError, or DeviceError where it cannot run here; where nothing is asked for, one whose times
/// mean nothing is no device to measure on.
[[nodiscard]] std::unique_ptr<Backend> timed_backend_argument(const Arguments& arguments);

/// True if a verb measures stages of the host's cores; known before a device is looked for.
[[nodiscard]] bool takes_native_stages(const Arguments& arguments);

/// Throws DeviceError if no back end is named and there is no device to measure on.
void require_timed_device(const Arguments& arguments);

/// Why there is no device to measure on, if none is named; "" if there is one. Stages of CUDA are timed on
/// GPUs alone.
[[nodiscard]] std::string no_timed_device(bool runs_cuda_stage = false);

}  // namespace segfold::cli
