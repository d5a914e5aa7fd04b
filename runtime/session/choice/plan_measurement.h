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
    abandoned,  ///< stopped, because the plan could not win; the measurement has the time of one run
    compile,    ///< the text does not compile
    resources,  ///< not run: needs more resources than a multiprocessor has, or spills too much
    wrong,      ///< results differ from the reference
    timeout,    ///< exceeded the time limit
    runtime     ///< ended with an error, or crashed its process
};

/// Returns the name of an outcome: "correct", "abandoned", "compile", ...
std::string_view name(MeasurementOutcome outcome);
/// Returns the outcome that a JSON value names. Throws InputError that lists the names.
MeasurementOutcome outcome_of(const JsonValue& value);

/// One measurement of a plan.
struct PlanMeasurement {
    MeasurementOutcome outcome = MeasurementOutcome::correct;
    double milliseconds = 0;  ///< the median; the time of one run if abandoned; 0 if there is no time
    std::vector<double> samples = {};
    /// If the outcome is not `correct`: the reason. If it is `correct`: a note on results that could not be
    /// judged, or an empty text.
    std::string reason = {};
    double compile_milliseconds = 0;
};

}  // namespace segfold
