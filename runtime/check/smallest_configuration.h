#pragma once
// Configurations of a stage with small tiles, so that little data crosses many borders.
#include <string_view>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"

namespace segfold::regress {

/// Returns the stage's configuration with the smallest product of tunables, whatever its speed. The tunable
/// called `uncounted` does not count in the product. `shape` holds the known sizes of the data.
[[nodiscard]] Configuration smallest_configuration(const Stage& stage, const Problem& problem,
                                                   std::string_view uncounted = {}, const Shape& shape = {});

/// Returns the smallest configuration with each tunable raised to its next value, if the conditions allow
/// that value. If the usual plan has the same value, takes the value after it.
///
/// This configuration runs text that the smallest one leaves out. Loops that halve the threads take one more
/// round than in the smallest and the usual plan.
[[nodiscard]] Configuration next_configuration(const Stage& stage, const Problem& problem,
                                               const Shape& shape = {});

}  // namespace segfold::regress
