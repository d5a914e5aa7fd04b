#pragma once
// The configurations that stages are run in to find mutants.
#include <vector>

#include "codegen/emit.h"

namespace segfold::test {

/// The smallest configuration, changed so that loops over vectors, rows, slices and shares go round.
Configuration looping_configuration(const Stage& stage, const Problem& problem);

/// Configurations with one tunable at another value than the smallest one's: its greatest, and one between.
std::vector<Configuration> other_configurations(const Stage& stage, const Problem& problem);

}  // namespace segfold::test
