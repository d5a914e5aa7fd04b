#pragma once
// An operator over one workload or a sweep of them: every stage and peer measured.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/bench/plans.h"
#include "runtime/measure/bench/workloads/cases.h"
#include "runtime/measure/bench/workloads/lot_cases.h"

namespace segfold::bench {

/// Which workloads a bench goes through.
enum class Sweep : std::uint8_t { none, sizes, layouts, lot };

/// The measurements to make for an operator.
struct SweepRequest {
    WorkloadRequest workload;  ///< a sweep replaces its layout or its number of elements
    Sweep sweep = Sweep::none;
    std::int64_t from = std::int64_t{1} << 16, to = std::int64_t{1} << 30;  ///< sweep sizes
    Lot lot = {};                                                           ///< sweep lot
    std::optional<SegmentForm> given_as = {};                               ///< flags or keys
    std::vector<const Peer*> peers = {};
    bool only_fitting_peers = false;  ///< passes silently over peers that do not take the form
    PlanSelection plans = {};
    LadderOptions options = {};
};

/// Calls on the way; each may be empty.
struct SweepListener {
    std::function<void(const std::string& doing)> progress;
    std::function<void(const std::string& warning)> warned;
    std::function<void(const WorkloadRecord& so_far, const Entry& entry)> measured;  ///< at once
    std::function<void(WorkloadRecord record)> done;
    /// A workload of a sweep that cannot be had.
    std::function<void(const std::string& workload, const std::string& why)> skipped;
};

/// Bytes of scratch memory for each element that the plans measured over generated data of a request take,
/// that of the one which takes most: they run one after the other.
[[nodiscard]] double scratch_of_element(Session& session, const Operator& op, const OperatorLaws& laws,
                                        const SweepRequest& request);

/// How many elements are generated where nobody says so: 2^28 or the largest smaller power of two whose data
/// and scratch memory fit four fifths of `free_bytes`; of rows so many numbers.
[[nodiscard]] std::int64_t fitting_elements(double free_bytes, const Operator& op, const Layout& layout,
                                            std::int64_t num_features, double scratch_of_element);

/// Throws InputError or SpecError for an operator or data that bench_operator() would refuse, before anything
/// is measured: at the price of little data of its own making, or of reading the files.
void require_measurable(Session& session, const Operator& op, const SweepRequest& request);

/// Measures an operator over the workloads of a request, with data of its own making or from files; without a
/// number of elements, fitting_elements().
///
/// `bench` measures the session's back end. In a sweep, what is too large or fails is skipped; else throws
/// InputError for a workload that cannot be had, DeviceError for one that does not fit.
void bench_operator(Session& session, Bench& bench, const Operator& op, const SweepRequest& request,
                    const SweepListener& listener);

}  // namespace segfold::bench
