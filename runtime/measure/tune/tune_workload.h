#pragma once
// Tuning as a function: searches the fastest plan for the caller's arrays and remembers it.
#include <initializer_list>
#include <span>
#include <string>

#include "runtime/session/session.h"

namespace segfold {

/// Limits of a tuning.
struct TuneOptions {
    /// Seconds for the search, more than 0. Ranking and validating take some more seconds.
    double seconds = 60;
    std::int64_t evaluations = 200;  ///< most plans to measure; at least 1
};

/// The result of a tuning.
struct Tuned {
    std::string winner;        ///< "warp_stream ring_offsets=256 ..."; empty if no plan is right
    std::string reason;        ///< why this plan won
    double milliseconds = 0;   ///< median time of the winner
    std::size_t measured = 0;  ///< number of measured plans
    std::string file;          ///< the file with the records
};

/// Measures plans on the session's back end for these arrays in host memory. Stores every measurement in the
/// user's tuning records, where later plans and runs find the winner.
///
/// Plans run in this process, so a plan that makes the device refuse work ends the tuning with a DeviceError.
/// (`segfold tune` measures in a separate process and goes on.) Throws DeviceError if the back end cannot be
/// timed, InputError if records have no folder.
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

/// Returns a record without a measurement: device, compiler, operator, class of problem, shape, bytes.
TuningRecord record_of(const DeviceIdentity& device, const TimingFacts& facts, const Problem& problem,
                       const Workload& workload, const std::string& layout);

}  // namespace tune

}  // namespace segfold
