#pragma once
// A bench as a call: every stage and peer over arrays of the caller's, timed beside the memory's read rate.
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "runtime/measure/bench/record.h"
#include "runtime/session/session.h"

namespace segfold {

/// The plans and peers to measure.
struct BenchOptions {
    int repeats = 21;  ///< at least 1
    /// Stages beside the one that a fold takes; empty: every one that takes the segments.
    std::vector<std::string> stages = {};
    std::vector<std::string> peers = {};  ///< "cub_segmented", ...; those of a GPU
};

/// Measures plans for these arrays of the host on the session's back end; the plan that a
/// fold takes is the entry with is_chosen.
///
/// Every plan's results are compared, up to 2^20 elements with the reference. Throws as Session::fold() does,
/// and DeviceError for a back end that is not timed.
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
