#pragma once
// The plan of a stage with the smallest tiles, so that little data crosses many borders.
#include <string_view>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"

namespace segfold::regress {

/// The configuration with the least of everything: elements a tile, room, blocks; whatever its speed. The
/// tunable `uncounted`, if the stage has it, may take any value. `shape` tells the known facts of the data.
[[nodiscard]] Configuration smallest_configuration(const Stage& stage, const Problem& problem,
                                                   std::string_view uncounted = {}, const Shape& shape = {});

/// The smallest with each tunable at its next larger value, or at the one behind that where the usual plan
/// has the next, as far as conditions allow: what the smallest leaves out stands in its text, and loops that
/// halve the threads of the smallest or the usual plan go round once more.
[[nodiscard]] Configuration next_configuration(const Stage& stage, const Problem& problem,
                                               const Shape& shape = {});

}  // namespace segfold::regress
