#pragma once
// The worker process of tune, which owns the device. The first message that it sends to the tuner is a
// greeting.
#include "codegen/problem.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/session/choice/record.h"

namespace segfold::cli {

/// The facts about its device and data that a worker reports when it starts.
struct TuneGreeting {
    TuningRecord record;  ///< tuning record of this workload, without point and measurement
    Target target;
    double ceiling = 0;  ///< read ceiling of the device, in bytes per second
    UsableLaws laws;     ///< laws that hold for the given values of the scalars
};

/// Implements `tune --worker`: measures plans that it reads from standard input. Returns the exit code.
int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request);

/// Parses the greeting that serve_plans() writes. Throws InternalError if `line` is not a greeting.
TuneGreeting parse_greeting(const std::string& line);

}  // namespace segfold::cli
