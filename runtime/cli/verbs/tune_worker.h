#pragma once
// Both ends of `tune --worker`: the process that owns the device, and the greeting that the tuner reads from
// it.
#include "codegen/problem.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/session/choice/record.h"

namespace segfold::cli {

/// The facts that a worker reports about its device and data.
struct TuneGreeting {
    TuningRecord record;  ///< without the point and the measurement
    Target target;
    double ceiling = 0;  ///< bytes per second
    UsableLaws laws;     ///< laws that hold for the scalars of the data
};

/// Measures the plans requested on standard input until it ends. Returns the exit code.
int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request);

/// Reads the greeting that serve_plans() writes. Throws InternalError if it has another form.
TuneGreeting parse_greeting(const std::string& line);

}  // namespace segfold::cli
