#pragma once
// Trials that the records already hold.
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune {

/// Returns the earlier measurements with exactly this device, operator, class, shape and stage texts. For
/// each point, the record of the furthest phase counts; among several such records, the last.
std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space);

}  // namespace segfold::tune
