#pragma once
// A configuration gives one value to each tunable of a stage.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/stage.h"

namespace segfold {

/// Maps the name of every tunable of a stage to its value.
using Configuration = std::map<std::string, int, std::less<>>;

/// Returns the values of all names that formulas of `stage` may use: `facts`, the tunables, and the `let`
/// sizes that are computed from them.
FormulaNames names_of(const Stage& stage, const Configuration& configuration, const FormulaNames& facts);

/// Returns the default configuration of a stage. It is the allowed configuration nearest to the values that
/// measured rows give for the workload (see GrownConfigurations). For a stage without rows, it is nearest to
/// the first value of each tunable.
///
/// `facts` must be the value of plan_facts(), or empty. If `facts` is empty, each tunable has its first
/// value, and conditions are ignored, except `where` lines of a stage without `let` lines.
Configuration default_configuration(const Stage& stage, const FormulaNames& facts = {});

/// Returns the configuration nearest to `wanted` that has the values in `chosen`. It must satisfy the `where`
/// and `fits` lines. If no configuration does, it must satisfy the `where` lines only. Returns none if no
/// configuration satisfies these.
///
/// The nearest value of a tunable is the greatest value up to the wanted one, or else the least above it.
/// Among conflicting tunables, the last ones give way first. A tunable that `wanted` does not name starts
/// from its first value.
std::optional<Configuration> nearest_configuration(const Stage& stage,
                                                   const std::map<std::string, int>& wanted,
                                                   const std::map<std::string, int>& chosen,
                                                   const FormulaNames& facts);

/// Throws InputError for a tunable that the stage does not have, or for a value that the tunable does not
/// list. Does not check `where` conditions, because they need the problem; configure() checks them.
void check_tunables(const Stage& stage, const std::map<std::string, int>& chosen);

/// Returns the configuration nearest to the default one that has the values in `chosen`.
///
/// Throws InputError for a tunable that the stage does not have, or for a value that the tunable does not
/// list. Also throws InputError if `where` conditions exclude the values in `chosen`, whatever the other
/// values are.
Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen,
                        const FormulaNames& facts = {});

/// Returns every configuration that the `where` conditions allow, in the order of the tunables' values.
std::vector<Configuration> configurations(const Stage& stage, const FormulaNames& facts = {});

/// Returns a configuration as text, such as "block_threads=256 items_per_thread=4".
std::string print(const Configuration& configuration);

}  // namespace segfold
