#pragma once
// The two ends of `tune --worker`: the process that owns the device, and the tuner's knowledge of it.
#include "codegen/problem.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/session/choice/record.h"

namespace segfold::cli {

/// The worker's greeting: its device and its problem.
struct TuneGreeting {
    tune::Record record;  ///< all but the point and the measurements
    Target target;
    double ceiling = 0;  ///< bytes a second
    UsableLaws laws;     ///< for its scalars
};

/// Measures plans asked for on standard input until that ends; returns the exit code.
int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request);

/// Throws InternalError for a text that serve_plans() does not write.
TuneGreeting parse_greeting(const std::string& line);

}  // namespace segfold::cli
