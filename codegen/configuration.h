#pragma once
// One value for each tunable of a stage.
#include <map>
#include <string>
#include <vector>

#include "codegen/stage.h"

namespace segfold {

/// Tunable name -> value, for every tunable of a stage.
using Configuration = std::map<std::string, int, std::less<>>;

/// Names for formulas of `stage`: `facts`, the tunables, and the stage's `let` sizes made of both.
FormulaNames names_of(const Stage& stage, const Configuration& configuration, const FormulaNames& facts);

/// The first value of every tunable, or by the stage's `prefer` lines the greatest value that is not above
/// theirs, else the least.
///
/// `facts` are those of plan_facts(); without any, no `prefer` line applies, nor does a `where` line behind
/// `let` lines.
Configuration default_configuration(const Stage& stage, const FormulaNames& facts = {});

/// Throws InputError for a name the stage does not have or a value it does not list; configure(), which knows
/// the problem, checks conditions.
void check_tunables(const Stage& stage, const std::map<std::string, int>& chosen);

/// The default with the given values set.
///
/// Throws InputError for a name the stage does not have, a value it does not list, or values that a `where`
/// condition excludes.
Configuration configure(const Stage& stage, const std::map<std::string, int>& chosen,
                        const FormulaNames& facts = {});

/// Every configuration that the `where` conditions allow, in the order of the tunables' values.
std::vector<Configuration> configurations(const Stage& stage, const FormulaNames& facts = {});

/// "block_threads=256 items_per_thread=4"
std::string print(const Configuration& configuration);

}  // namespace segfold
