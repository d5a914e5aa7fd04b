#pragma once
// The outcome of one measurement of a plan.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

class JsonValue;

/// The outcome of a measurement.
enum class MeasurementOutcome : std::uint8_t {
    correct,    ///< measured, and its results are right
    abandoned,  ///< stopped because the plan could not win; the time is that of one run
    compile,    ///< does not compile
    resources,  ///< needs more resources than a multiprocessor has, or spills too much; was not run
    wrong,      ///< results differ from the reference
    timeout,    ///< did not end in time
    runtime     ///< ended with an error, or crashed its process
};

/// "correct", "abandoned", "compile", ...
std::string_view name(MeasurementOutcome outcome);
/// The outcome that a JSON document names. Throws InputError that lists the names.
MeasurementOutcome outcome_of(const JsonValue& value);

/// One point measured once.
struct PlanMeasurement {
    MeasurementOutcome outcome = MeasurementOutcome::correct;
    double milliseconds = 0;  ///< the median; the time of one run if abandoned; 0 if there is no time
    std::vector<double> samples = {};
    /// The reason why the outcome is not `correct`. For a correct outcome, the results that could not be
    /// judged.
    std::string reason = {};
    double compile_milliseconds = 0;
};

}  // namespace segfold
