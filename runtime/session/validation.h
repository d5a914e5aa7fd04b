#pragma once
// Compares a run's results with the reference and with Thrust.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/judge/compare.h"

namespace segfold {

/// The results of thrust::reduce_by_key, or the reason why there are none.
struct ThrustResults {
    std::optional<Results> results;
    std::string description;  ///< such as "Thrust 3.0.1, OpenMP with 16 threads"
    std::string reason;       ///< one sentence on why there are no results; empty if there are results
};

/// Runs Thrust on a GPU if possible, else on the host's threads.
ThrustResults run_thrust(const Workload& workload);

/// The outcome of validate().
struct Validation {
    std::vector<Comparison> comparisons;
    std::string thrust;          ///< version of Thrust, and its device or number of threads
    std::string without_thrust;  ///< reason why Thrust could not check; empty if it could

    [[nodiscard]] bool agrees() const;
};

/// Throws InputError if free memory does not suffice for a workload's results and for validate(). validate()
/// needs 8 to 16 bytes per result for the reference, and a key and a state per element for Thrust.
void require_memory_to_validate(const Workload& workload, bool with_thrust = true);

/// Compares results with the reference. If `with_thrust` is true and the operator is associative, also
/// compares them with Thrust.
Validation validate(const Workload& workload, const Results& results, bool is_associative,
                    bool with_thrust = true);

/// The reason why Thrust does not check an operator that is not associative.
inline constexpr std::string_view kThrustNeedsAssociative =
    "thrust::reduce_by_key needs an associative operator";

}  // namespace segfold
