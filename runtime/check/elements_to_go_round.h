#pragma once
// The number of elements with which a stage runs all of its loops more than once.
#include <cstdint>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// Returns the fewest elements that make a stage's smallest plan run its loops more than once: at least
/// `least`, at most `most`, in steps of a twelfth.
///
/// This means two blocks in every launch; if a grid is bounded, two rounds for every block. It must hold in
/// every form of segments that the stage serves. `problem` gives everything except the form.
[[nodiscard]] std::int64_t elements_to_go_round(const Stage& stage, const Problem& problem,
                                                const Catalogue& catalogue, std::int64_t least,
                                                std::int64_t most);

}  // namespace segfold::regress
