#pragma once
// The worker process of tune, which owns the device, and its greeting: the first message that the tuner reads
// from the process.
#include "codegen/problem.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/session/choice/record.h"

namespace segfold::cli {

/// The facts that a worker reports about its device and data when it starts.
struct TuneGreeting {
    TuningRecord record;  ///< the tuning record of this workload, still without point and measurement
    Target target;
    double ceiling = 0;  ///< read ceiling of the device in bytes per second
    UsableLaws laws;     ///< laws that hold for the given values of the scalars
};

/// Implements `tune --worker`: measures the plans that standard input requests. Returns the exit code.
int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request);

/// Reads the greeting that serve_plans() writes. Throws InternalError if `line` is not a greeting.
TuneGreeting parse_greeting(const std::string& line);

}  // namespace segfold::cli
