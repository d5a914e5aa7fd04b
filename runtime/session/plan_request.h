#pragma once
// A caller's requests for a plan.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace segfold {

class Backend;
enum class Numbers;  // codegen/numbers.h; its first enumerator is `constant`

/// The goal by which a stage is chosen if the caller names none.
///
/// `best` is the least time of a run. `fast` is the least time until the first results, including the time to
/// compile. `automatic` is `fast` for the first fold of an operator if all stages give the same bits, else
/// `best`.
enum class First : std::uint8_t { automatic, best, fast };

/// A caller's requests for a plan. Records and the order of stages decide everything else; see choice/spot.h.
struct PlanRequest {
    std::optional<std::string> stage = {};
    std::map<std::string, int> settings = {};  ///< values of tunables by name
    /// If true, the order of combination depends only on the data; `stage` and `settings` must then be empty.
    bool is_reproducible = false;
    Numbers numbers = {};
    /// The number of stages to measure on the caller's arrays; the fastest is used. 1: no stage is measured.
    /// If combine rounds, the last bits may depend on the stage; see choice/spot.h.
    int measured_stages = 1;
    First first = First::automatic;

    /// True if records may choose the plan.
    [[nodiscard]] bool is_open() const { return !stage && settings.empty() && !is_reproducible; }
};

/// Throws InputError if a stage or settings are requested from a back end that runs no stages.
void require_stages(const PlanRequest& request, const Backend& backend);

}  // namespace segfold
