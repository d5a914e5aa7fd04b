#pragma once
// The two ends of `tune --worker`: the process that owns the device, and what the tuner knows of it.
#include "codegen/problem.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/session/choice/record.h"

namespace segfold::cli {

/// What the worker found: where it runs, and what of.
struct TuneGreeting {
    tune::Record record;  ///< all but the point and what was measured
    Target target;
    double ceiling = 0;  ///< bytes a second
    UsableLaws laws;     ///< for its scalars
};

/// Measures what is asked for on standard input until that ends; returns the exit code.
int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request);

/// Throws InternalError for what serve_plans() does not say.
TuneGreeting parse_greeting(const std::string& line);

}  // namespace segfold::cli
