#pragma once
// Measures every stage and peer for an operator, on one workload or a sweep of workloads.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/bench/plans.h"
#include "runtime/measure/bench/workloads/cases.h"
#include "runtime/measure/bench/workloads/lot_cases.h"

namespace segfold::bench {

/// How a bench varies its workloads.
enum class Sweep : std::uint8_t { none, sizes, layouts, lot };

/// A request to measure an operator.
struct SweepRequest {
    WorkloadRequest workload;  ///< in a sweep, its layout or number of elements is replaced
    Sweep sweep = Sweep::none;
    std::int64_t from = std::int64_t{1} << 16, to = std::int64_t{1} << 30;  ///< for Sweep::sizes
    Lot lot = {};                                                           ///< for Sweep::lot
    /// Form in which segments are given, if they are given as flags or keys.
    std::optional<SegmentForm> given_as = {};
    std::vector<const Peer*> peers = {};
    /// True: silently skips peers that do not support the form, and peers of folds for a scan.
    bool only_fitting_peers = false;
    PlanSelection plans = {};
    LadderOptions options = {};
};

/// Functions called during a bench; each may be empty.
struct SweepListener {
    std::function<void(const std::string& doing)> progress;
    std::function<void(const std::string& warning)> warned;
    /// Called after each entry is measured.
    std::function<void(const WorkloadRecord& so_far, const Entry& entry)> measured;
    std::function<void(WorkloadRecord record)> done;
    /// Called for a workload of a sweep that cannot be built.
    std::function<void(const std::string& workload, const std::string& why)> skipped;
};

/// Returns the bytes of scratch memory per element that the measured plans need on the request's generated
/// data. Plans run one after the other, so this is the largest need of a single plan.
[[nodiscard]] double scratch_of_element(Session& session, const Operator& op, const OperatorLaws& laws,
                                        const SweepRequest& request);

/// Returns the default number of generated elements. If elements are rows, counts the numbers in them
/// instead.
///
/// This is 2^28, or the largest smaller power of two whose data and scratch memory fit into four fifths of
/// `free_bytes`.
[[nodiscard]] std::int64_t fitting_elements(double free_bytes, const Operator& op, const Layout& layout,
                                            std::int64_t num_features, double scratch_of_element);

/// Throws InputError or SpecError if bench_operator() would refuse the operator or the data. Checks this on a
/// little generated data, or on the files, before anything is measured.
void require_measurable(Session& session, const Operator& op, const SweepRequest& request);

/// Measures an operator on the workloads of a request. If the request gives no number of elements, uses
/// fitting_elements().
///
/// `bench` must measure the session's back end. In a sweep, workloads that are too large or fail are skipped.
/// Without a sweep, throws InputError if the workload cannot be built, and DeviceError if it does not fit.
void bench_operator(Session& session, Bench& bench, const Operator& op, const SweepRequest& request,
                    const SweepListener& listener);

}  // namespace segfold::bench
