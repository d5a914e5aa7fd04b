#pragma once
// What became of one measurement of a plan.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

class JsonValue;

/// What became of an measurement.
enum class MeasurementOutcome : std::uint8_t {
    correct,    ///< measured, and its results are right
    abandoned,  ///< could not win any more; its time is that of one run
    compile,    ///< does not compile
    resources,  ///< takes more of a multiprocessor than is there, or spills so much that nobody ran it
    wrong,      ///< results differ from the reference
    timeout,    ///< did not end in time
    runtime     ///< ended with an error, or took its process with it
};

/// "correct", "abandoned", "compile", ...
std::string_view name(MeasurementOutcome outcome);
/// The outcome that a JSON document names. Throws InputError that lists the names.
MeasurementOutcome outcome_of(const JsonValue& value);

/// One point measured once.
struct PlanMeasurement {
    MeasurementOutcome outcome = MeasurementOutcome::correct;
    double milliseconds = 0;  ///< the median; of what was abandoned that of one run; 0 where there is none
    std::vector<double> samples = {};
    std::string reason = {};  ///< why the outcome is not correct; of one that is, what could not be judged
    double compile_milliseconds = 0;
};

}  // namespace segfold
