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

/// Returns the values of all names that formulas of `stage` may use: `facts`, the tunables, and `let` sizes
/// computed from facts and tunables.
FormulaNames names_of(const Stage& stage, const Configuration& configuration, const FormulaNames& facts);

/// The default configuration: of the values that measured rows want for a workload (GrownConfigurations), or
/// the first of each tunable for a stage without rows, the nearest that is allowed.
///
/// `facts` are the plan_facts(). If they are empty, each tunable has its first value, whatever the lines say;
/// only `where` lines of a stage without `let` lines must hold.
Configuration default_configuration(const Stage& stage, const FormulaNames& facts = {});

/// Returns the configuration with the values of `chosen` that is nearest to `wanted` among those that the
/// `where` and `fits` lines allow. If there is none, the nearest that the `where` lines allow; else nothing.
///
/// Nearest means: of each tunable the greatest value up to the wanted one, else the least above it. The last
/// tunables give way first. A tunable without a wanted value starts from its first one.
std::optional<Configuration> nearest_configuration(const Stage& stage,
                                                   const std::map<std::string, int>& wanted,
                                                   const std::map<std::string, int>& chosen,
                                                   const FormulaNames& facts);

/// Throws InputError for a tunable that the stage does not have, or a value that it does not list. Does not
/// check `where` conditions, which need the problem; configure() does.
void check_tunables(const Stage& stage, const std::map<std::string, int>& chosen);

/// Returns the configuration with the values of `chosen` that is nearest to the default one.
///
/// Throws InputError for a tunable that the stage does not have, a value that it does not list, or values
/// that `where` conditions exclude whatever the others are.
Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen,
                        const FormulaNames& facts = {});

/// Returns every configuration that the `where` conditions allow, in the order of the tunables' values.
std::vector<Configuration> configurations(const Stage& stage, const FormulaNames& facts = {});

/// Returns a configuration as text, such as "block_threads=256 items_per_thread=4".
std::string print(const Configuration& configuration);

}  // namespace segfold
