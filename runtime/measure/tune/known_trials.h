#pragma once
// Trials that the records hold already.
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune {

/// Earlier measurements of the same device, operator, class, shape and stage texts. Of a point the last row
/// of its furthest phase counts.
std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space);

}  // namespace segfold::tune
