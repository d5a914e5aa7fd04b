#pragma once
// Measures every stage and peer on the caller's arrays, and relates them to the memory's read rate.
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "runtime/measure/bench/record.h"
#include "runtime/session/session.h"

namespace segfold {

/// Options of bench_workload().
struct BenchOptions {
    int repeats = 21;  ///< at least 1
    /// Stages to measure in addition to the stage of a fold. If empty, all stages that support the segments'
    /// form are measured.
    std::vector<std::string> stages = {};
    std::vector<std::string> peers = {};  ///< peers on a GPU, such as "cub_segmented"
};

/// Measures plans on the session's back end for arrays in host memory. The entry with `is_chosen` set is the
/// plan of a fold.
///
/// Compares the results of all plans: with the reference for up to 2^20 elements, otherwise with each other.
/// Throws the errors of Session::fold(), and DeviceError if the back end cannot be timed.
[[nodiscard]] bench::WorkloadRecord bench_workload(Session& session, const Operator& op,
                                                   std::span<const ArrayView> inputs,
                                                   const SegmentsView& segments,
                                                   const BenchOptions& options = {});
[[nodiscard]] inline bench::WorkloadRecord bench_workload(Session& session, const Operator& op,
                                                          std::initializer_list<ArrayView> inputs,
                                                          const SegmentsView& segments,
                                                          const BenchOptions& options = {})
{
    return bench_workload(session, op, std::span(inputs.begin(), inputs.size()), segments, options);
}

}  // namespace segfold
