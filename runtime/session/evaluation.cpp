#include "runtime/session/evaluation.h"

#include <algorithm>
#include <array>

namespace segfold::tune {
namespace {

constexpr std::array<std::string_view, 7> kOutcomes = {"correct", "abandoned", "compile", "resources",
                                                       "wrong",   "timeout",   "runtime"};

}  // namespace

std::string_view name(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> parse_outcome(std::string_view name)
{
    const auto found = std::ranges::find(kOutcomes, name);
    if (found == kOutcomes.end())
        return std::nullopt;
    return static_cast<Outcome>(found - kOutcomes.begin());
}

}  // namespace segfold::tune
