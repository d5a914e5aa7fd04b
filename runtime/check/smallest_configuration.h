#pragma once
// Configurations of a stage with small tiles, so that even few elements fill many tiles.
#include <string_view>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"

namespace segfold::regress {

/// Returns the valid configuration of a stage with the smallest product of tunables, regardless of speed. The
/// product leaves out the tunable called `uncounted`. `shape` holds the known sizes of the data.
[[nodiscard]] Configuration smallest_configuration(const Stage& stage, const Problem& problem,
                                                   std::string_view uncounted = {}, const Shape& shape = {});

/// Starts from the smallest configuration and raises each tunable to its next value that the conditions
/// allow. Skips a value that the usual plan has too.
///
/// This configuration runs code that the smallest configuration omits. Loops that halve the number of threads
/// run one round more than in the smallest and the usual plan.
[[nodiscard]] Configuration next_configuration(const Stage& stage, const Problem& problem,
                                               const Shape& shape = {});

}  // namespace segfold::regress
