#pragma once
// thrust::reduce_by_key as a judge of the other back ends: another algorithm, other code, the same operator.
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/data/workload.h"

namespace segfold {

/// Where Thrust runs: on a GPU, or on the host's threads through OpenMP.
enum class ThrustSystem : std::uint8_t { cuda, cpu };

/// A GPU where Thrust can run on one, else the host.
[[nodiscard]] ThrustSystem thrust_system();

/// "cuda", "cpu"
[[nodiscard]] std::string_view name(ThrustSystem system);

/// True if `reduce_by_key` can run on the system now: it was built in, and for CUDA there is a GPU.
[[nodiscard]] bool thrust_available(ThrustSystem system);

/// Why the system is not available, in one sentence; empty when it is.
[[nodiscard]] std::string thrust_unavailable_reason(ThrustSystem system);

/// The system in words, "Thrust 3.0.1, OpenMP with 16 threads"; empty if it is not available.
[[nodiscard]] std::string thrust_description(ThrustSystem system);

/// Most fields of a state, and most intermediate values of one block of an operator, that the functors hold.
inline constexpr int kMaxThrustFields = 8;
inline constexpr int kMaxThrustSlots = 128;

/// Why the operator cannot be evaluated inside Thrust; empty when it can.
[[nodiscard]] std::string thrust_objection(const Operator& op);

/// Bytes of host memory that reduce_by_key() takes beside the workload, its results among them.
[[nodiscard]] double thrust_host_bytes(const Workload& workload, ThrustSystem system);

/// Reduces a workload by thrust::reduce_by_key over the numbers of the non-empty segments.
///
/// The operator runs as byte code in Thrust's functors. Empty segments, which keys cannot express, are filled
/// in by the evaluator. `device` is the GPU's ordinal and counts for CUDA alone. Floating-point results may
/// differ from one run to the next on a GPU: Thrust does not promise an association order.
///
/// Throws InputError if the workload cannot be run or its operator has an objection; DeviceError if the
/// system is not available or fails.
Results reduce_by_key(const Workload& workload, ThrustSystem system, int device = 0);

}  // namespace segfold
