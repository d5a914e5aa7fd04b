#include "runtime/session/choice/evaluation.h"

#include <array>

#include "runtime/support/json_value.h"

namespace segfold::tune {
namespace {

constexpr std::array<std::string_view, 7> kOutcomes = {"correct", "abandoned", "compile", "resources",
                                                       "wrong",   "timeout",   "runtime"};

}  // namespace

std::string_view name(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

Outcome outcome_of(const JsonValue& value) { return static_cast<Outcome>(value.choice(kOutcomes)); }

}  // namespace segfold::tune
