#pragma once
// Tuning as a call: the fastest plan for arrays of the caller's, searched and remembered.
#include <initializer_list>
#include <span>
#include <string>

#include "runtime/session/session.h"

namespace segfold {

/// How long a tuning may take.
struct TuneOptions {
    /// Of the search, more than 0. Ranking the best and validating the winner come on top, some seconds.
    double seconds = 60;
    std::int64_t evaluations = 200;  ///< plans measured at most, at least 1
};

/// A tuning's findings.
struct Tuned {
    std::string winner;        ///< "warp_stream ring_offsets=256 ..."; "" if no plan is right
    std::string reason;        ///< why that one
    double milliseconds = 0;   ///< of the winner, the median
    std::size_t measured = 0;  ///< plans
    std::string file;          ///< where the rows were kept
};

/// Measures plans for these arrays of the host on the session's back end and keeps every measurement in the
/// user's tuning records, where later plans and runs find the winner.
///
/// Plans run in this process: one that makes the device refuse work ends the tuning with a DeviceError
/// (`segfold tune` measures in a process of its own and goes on). Throws DeviceError for a back end that is
/// not timed, InputError where records have no folder.
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

namespace tune {

struct Record;

/// A row without a measurement: device, compiler, operator, class of problem, shape, bytes.
Record record_of(const DeviceIdentity& device, const TimingFacts& facts, const Problem& problem,
                 const Workload& workload, const std::string& layout);

/// "2026-11-22T04:33:35Z"
std::string time_stamp();

}  // namespace tune

}  // namespace segfold
