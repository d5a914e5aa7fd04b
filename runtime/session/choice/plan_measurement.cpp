#include "runtime/session/choice/plan_measurement.h"

#include <array>

#include "runtime/support/json_value.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 7> kOutcomes = {"correct", "abandoned", "compile", "resources",
                                                       "wrong",   "timeout",   "runtime"};

}  // namespace

std::string_view name(MeasurementOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

MeasurementOutcome outcome_of(const JsonValue& value)
{
    return static_cast<MeasurementOutcome>(value.choice(kOutcomes));
}

}  // namespace segfold
