#pragma once
// Trials that the records already hold.
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune {

/// Returns the earlier measurements with exactly this device, operator, class of problem, shape and stage
/// texts. If a point has several records, the record of the latest phase counts; of several records of this
/// phase, the last.
std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space);

}  // namespace segfold::tune
