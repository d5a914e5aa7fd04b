#pragma once
// Makes a counter-example small enough to be understood.
#include <functional>

#include "dsl/laws/judge.h"

namespace segfold {

/// Fewer elements and simpler values for which `breaks` still holds; tries `most_tries` changes at most.
///
/// `columns` are the types of an element's values. The simplest value is 0, then come 1, -1, 2 and so on;
/// infinities, NaN and the ends of a type are simpler than any number of many digits.
LawCase shrink(LawCase recipes, const std::vector<Type>& columns,
               const std::function<bool(const LawCase&)>& breaks, int most_tries);

}  // namespace segfold
