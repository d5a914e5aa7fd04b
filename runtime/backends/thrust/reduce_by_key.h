#pragma once
// Folds workloads with thrust::reduce_by_key, as an independent check of the other back ends.
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/data/workload.h"

namespace segfold {

/// Where Thrust runs: on a GPU, or on the host's threads through OpenMP.
enum class ThrustSystem : std::uint8_t { cuda, cpu };

/// Returns the GPU if Thrust can run on one, else the host.
[[nodiscard]] ThrustSystem thrust_system();

/// Returns "cuda" or "cpu".
[[nodiscard]] std::string_view name(ThrustSystem system);

/// True if reduce_by_key() can run on the system now. The system must be built in; CUDA also needs a GPU.
[[nodiscard]] bool thrust_available(ThrustSystem system);

/// Returns the reason why the system is not available, as one sentence; empty if it is available.
[[nodiscard]] std::string thrust_unavailable_reason(ThrustSystem system);

/// Describes the system, such as "Thrust 3.0.1, OpenMP with 16 threads"; empty if it is not available.
[[nodiscard]] std::string thrust_description(ThrustSystem system);

/// Limits of the functors: fields of a state, and slots of one block of an operator.
inline constexpr int kMaxThrustFields = 8;
inline constexpr int kMaxThrustSlots = 128;

/// Returns the reason why Thrust cannot evaluate the operator; empty if it can.
[[nodiscard]] std::string thrust_objection(const Operator& op);

/// Returns the bytes of host memory that reduce_by_key() needs in addition to the workload, including the
/// results.
[[nodiscard]] double thrust_host_bytes(const Workload& workload, ThrustSystem system);

/// Folds a workload with thrust::reduce_by_key. The keys are the numbers of the nonempty segments. Running
/// results come from thrust::inclusive_scan_by_key and thrust::exclusive_scan_by_key.
///
/// The operator runs as byte code in Thrust's functors. Keys cannot express empty segments, so the evaluator
/// computes their results. `device` is the GPU's index, used only by CUDA. On a GPU, floating-point results
/// may differ from run to run, because Thrust does not promise an association order.
///
/// Throws InputError if check_workload() refuses the workload or thrust_objection() the operator, and
/// DeviceError if the system is not available or fails.
Results reduce_by_key(const Workload& workload, ThrustSystem system, int device = 0);

}  // namespace segfold
