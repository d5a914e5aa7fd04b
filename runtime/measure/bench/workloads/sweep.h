#pragma once
// Measures every stage and peer for an operator on one workload or a sweep of workloads.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/bench/plans.h"
#include "runtime/measure/bench/workloads/cases.h"
#include "runtime/measure/bench/workloads/lot_cases.h"

namespace segfold::bench {

/// The way in which a bench varies its workloads.
enum class Sweep : std::uint8_t { none, sizes, layouts, lot };

/// Request to measure an operator.
struct SweepRequest {
    WorkloadRequest workload;  ///< a sweep replaces its layout or number of elements
    Sweep sweep = Sweep::none;
    std::int64_t from = std::int64_t{1} << 16, to = std::int64_t{1} << 30;  ///< for Sweep::sizes
    Lot lot = {};                                                           ///< for Sweep::lot
    std::optional<SegmentForm> given_as = {};  ///< set if flags or keys give the segments
    std::vector<const Peer*> peers = {};
    bool only_fitting_peers = false;  ///< skips peers that do not take the form, without a message
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
    /// Called for a workload of a sweep that cannot be made.
    std::function<void(const std::string& workload, const std::string& why)> skipped;
};

/// Returns the bytes of scratch memory per element that the measured plans need on the request's generated
/// data. Plans run in turn, so this is the largest need of any plan.
[[nodiscard]] double scratch_of_element(Session& session, const Operator& op, const OperatorLaws& laws,
                                        const SweepRequest& request);

/// Returns the default number of generated elements.
///
/// This is 2^28, or the largest smaller power of two whose data and scratch memory fit into four fifths of
/// `free_bytes`. If elements are rows, it counts numbers.
[[nodiscard]] std::int64_t fitting_elements(double free_bytes, const Operator& op, const Layout& layout,
                                            std::int64_t num_features, double scratch_of_element);

/// Throws the InputError or SpecError of an operator or data that bench_operator() would refuse, before
/// anything is measured. To find out, generates little data, or reads the files.
void require_measurable(Session& session, const Operator& op, const SweepRequest& request);

/// Measures an operator on the workloads of a request, with generated data or files. If the request gives no
/// number of elements, uses fitting_elements().
///
/// `bench` must measure the session's back end. In a sweep, a workload that is too large or fails is skipped.
/// Without a sweep, throws InputError if the workload cannot be made, DeviceError if it does not fit.
void bench_operator(Session& session, Bench& bench, const Operator& op, const SweepRequest& request,
                    const SweepListener& listener);

}  // namespace segfold::bench
