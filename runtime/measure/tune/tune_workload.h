#pragma once
// Searches for the fastest plan for the caller's arrays, and records it for later runs.
#include <initializer_list>
#include <span>
#include <string>

#include "runtime/session/session.h"

namespace segfold {

/// Limits of a tuning.
struct TuneOptions {
    /// Time limit of the search, in seconds; must be above 0. Ranking and validation take a few seconds more.
    double seconds = 60;
    std::int64_t evaluations = 200;  ///< largest number of plans to measure; at least 1
};

/// The outcome of a tuning.
struct Tuned {
    std::string winner;        ///< "warp_stream ring_offsets=256 ..."; empty if no plan is right
    std::string reason;        ///< reason why this plan won
    double milliseconds = 0;   ///< median time of the winner
    std::size_t measured = 0;  ///< number of measured plans
    std::string file;          ///< the file with the tuning records
};

/// Measures plans on the session's back end for arrays in host memory. Stores every measurement in the user's
/// tuning records, in which later plans and runs find the winner.
///
/// Plans run in this process. A plan that makes the device refuse further work therefore ends the tuning with
/// a DeviceError. (`segfold tune` uses a separate process and continues.) Throws DeviceError if the back end
/// cannot be timed, InputError if there is no folder for records.
Tuned tune_workload(Session& session, const Operator& op, std::span<const ArrayView> inputs,
                    const SegmentsView& segments, const TuneOptions& options = {});
inline Tuned tune_workload(Session& session, const Operator& op, std::initializer_list<ArrayView> inputs,
                           const SegmentsView& segments, const TuneOptions& options = {})
{
    return tune_workload(session, op, std::span(inputs.begin(), inputs.size()), segments, options);
}

struct Problem;
struct DeviceIdentity;
struct TimingFacts;
struct TuningRecord;

namespace tune {

/// Returns a record without a measurement. It has the device, compiler, operator, class of problem, shape and
/// bytes.
TuningRecord record_of(const DeviceIdentity& device, const TimingFacts& facts, const Problem& problem,
                       const Workload& workload, const std::string& layout);

}  // namespace tune

}  // namespace segfold
