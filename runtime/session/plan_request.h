#pragma once
// A caller's requests for a plan.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace segfold {

class Backend;
enum class Numbers;  // codegen/numbers.h; its first enumerator is `constant`

/// What a stage is chosen for where nobody names it. `best`: the least time of a run. `fast`: the least time
/// until the first results, which counts the time to compile. `automatic`: `fast` for the first fold of an
/// operator whose bits no stage changes, else `best`.
enum class First : std::uint8_t { automatic, best, fast };

/// A caller's requests for a plan. Records, and the order of stages, decide everything else; see
/// choice/spot.h.
struct PlanRequest {
    std::optional<std::string> stage = {};
    std::map<std::string, int> settings = {};  ///< values of tunables, by their names
    /// If true, the order of combination depends only on the data; `stage` and `settings` must then be empty.
    bool is_reproducible = false;
    Numbers numbers = {};
    /// The stages to measure on the caller's arrays, of which the fastest is taken; 1: none is measured.
    /// Where combine rounds, last bits may depend on the stage. spot.h has the rule.
    int measured_stages = 1;
    First first = First::automatic;

    /// True if a tuning record may choose the plan.
    [[nodiscard]] bool is_open() const { return !stage && settings.empty() && !is_reproducible; }
};

/// Throws InputError if a stage or settings are requested from a back end that runs no stages.
void require_stages(const PlanRequest& request, const Backend& backend);

}  // namespace segfold
