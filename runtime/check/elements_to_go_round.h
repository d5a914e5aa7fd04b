#pragma once
// The number of elements with which a stage runs all of its loops more than once.
#include <cstdint>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Returns about the fewest elements with which a stage's smallest plan runs its loops more than once. Starts
/// at `least` and adds a twelfth at a time, up to `most`.
///
/// With this number of elements, every launch has two blocks or more, and if a grid is bounded, every block
/// makes two rounds. This holds for every form of segments that the stage serves. The form of `problem` does
/// not matter.
[[nodiscard]] std::int64_t elements_to_go_round(const Stage& stage, const Problem& problem,
                                                const Catalogue& catalogue, std::int64_t least,
                                                std::int64_t most);

}  // namespace segfold::regress
