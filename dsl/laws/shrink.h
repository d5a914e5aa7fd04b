#pragma once
// Shrinks counter-examples so that they are easy to understand.
#include <functional>

#include "dsl/laws/judge.h"

namespace segfold {

/// Returns a case with fewer elements and simpler values that still satisfies `breaks`. Tries at most
/// `most_tries` changes.
///
/// `columns` holds the types of an element's values. The simplest value is 0, followed by 1, -1, 2 and so on.
/// Infinities, NaN and the ends of a type count as simpler than numbers with many digits.
LawCase shrink(LawCase recipes, const std::vector<Type>& columns,
               const std::function<bool(const LawCase&)>& breaks, int most_tries);

}  // namespace segfold
