#pragma once
// How many elements a stage needs before all of its loops go round.
#include <cstdint>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// The fewest elements from `least` on, in steps of a twelfth, with which the smallest plan of a stage has
/// two blocks in every launch, or where a grid is bounded, two goes for every block; in each form of segments
/// that the stage serves. At most `most`. `problem` says all but the form.
[[nodiscard]] std::int64_t elements_to_go_round(const Stage& stage, const Problem& problem,
                                                const Catalogue& catalogue, std::int64_t least,
                                                std::int64_t most);

}  // namespace segfold::regress
