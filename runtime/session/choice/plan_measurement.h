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
    correct,    ///< measured, with right results
    abandoned,  ///< stopped because the plan could not win; has the time of one run
    compile,    ///< the text does not compile
    resources,  ///< not run: needs more resources than a multiprocessor has, or spills too much
    wrong,      ///< results differ from the reference
    timeout,    ///< exceeded the time limit
    runtime     ///< ended with an error, or crashed its process
};

/// Returns the name of an outcome: "correct", "abandoned", "compile", ...
std::string_view name(MeasurementOutcome outcome);
/// Returns the outcome named by a JSON value. Throws InputError that lists the names.
MeasurementOutcome outcome_of(const JsonValue& value);

/// One measurement of a plan.
struct PlanMeasurement {
    MeasurementOutcome outcome = MeasurementOutcome::correct;
    double milliseconds = 0;  ///< the median; of an abandoned plan the time of one run; 0 without a time
    std::vector<double> samples = {};
    /// The reason for an outcome other than `correct`. If the outcome is `correct`, a note on results that
    /// could not be judged, or empty.
    std::string reason = {};
    double compile_milliseconds = 0;
};

}  // namespace segfold
