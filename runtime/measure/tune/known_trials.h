#pragma once
// Trials that the records hold already.
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune {

/// What was measured before of exactly this: device, operator, class, shape, stage texts. The last row of
/// each point counts, the further phase first.
std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space);

}  // namespace segfold::tune
