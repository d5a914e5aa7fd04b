#pragma once
// A configuration gives one value to each tunable of a stage.
#include <map>
#include <string>
#include <vector>

#include "codegen/stage.h"

namespace segfold {

/// Maps the name of every tunable of a stage to its value.
using Configuration = std::map<std::string, int, std::less<>>;

/// Returns the values of all names that formulas of `stage` may use: `facts`, the tunables, and `let` sizes
/// computed from facts and tunables.
FormulaNames names_of(const Stage& stage, const Configuration& configuration, const FormulaNames& facts);

/// Returns the default configuration. A tunable has its first value. If a `prefer` line of the stage bounds a
/// tunable, the tunable has its greatest value up to the bound, or its least value if all values exceed the
/// bound.
///
/// `facts` are the plan_facts(). If they are empty, `prefer` lines do not apply; in a stage with `let` lines,
/// `where` lines do not apply either.
Configuration default_configuration(const Stage& stage, const FormulaNames& facts = {});

/// Throws InputError if `chosen` names a tunable that the stage does not have, or a value that the tunable
/// does not list. Only configure() checks `where` conditions, because they need facts about the problem.
void check_tunables(const Stage& stage, const std::map<std::string, int>& chosen);

/// Returns the default configuration with the values of `chosen`.
///
/// Throws InputError if `chosen` names a tunable that the stage does not have or a value that the tunable
/// does not list, or if a `where` condition excludes the configuration.
Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen,
                        const FormulaNames& facts = {});

/// Returns every configuration that the `where` conditions allow, in the order of the tunables' values.
std::vector<Configuration> configurations(const Stage& stage, const FormulaNames& facts = {});

/// Returns a configuration as text, such as "block_threads=256 items_per_thread=4".
std::string print(const Configuration& configuration);

}  // namespace segfold
