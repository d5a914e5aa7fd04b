#pragma once
// Finds trials that the records already hold.
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune {

/// Returns earlier measurements for exactly this device, operator, class of problem, shape and stage texts.
/// If a point has several records, the one of the latest phase counts; within a phase, the last one.
std::vector<Trial> known_trials(const RecordStore& store, const Question& question, const SearchSpace& space);

}  // namespace segfold::tune
