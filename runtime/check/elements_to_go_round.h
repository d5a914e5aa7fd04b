#pragma once
// Computes the number of elements from which all loops of a stage run more than once.
#include <cstdint>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Returns approximately the smallest number of elements with which the loops of a stage's smallest plan run
/// more than once. The result lies between `least` and `most`.
///
/// With this number of elements, every launch has at least two blocks. If the size of a grid is bounded,
/// every block processes at least two tiles. Both hold for every form of segments that the stage serves; the
/// form of `problem` is ignored.
[[nodiscard]] std::int64_t elements_to_go_round(const Stage& stage, const Problem& problem,
                                                const Catalogue& catalogue, std::int64_t least,
                                                std::int64_t most);

}  // namespace segfold::regress
