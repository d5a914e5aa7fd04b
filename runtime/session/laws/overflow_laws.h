#pragma once
// Laws that hold while nothing overflows, and folds in which something may.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/laws/data/fold_growth.h"
#include "runtime/session/laws/operator_laws.h"

namespace segfold {

/// The laws that are relied on, and that overflow in such a fold may break without a verdict that speaks of
/// it: what is proved or refuted of words speaks of all, what is proved of integers or reals of none, and a
/// search of what it has tried.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  const KnownValues& known, FoldLength length);

/// The most elements of which no fold breaks a law so, whatever the data are: a power of two, 0, or the most
/// that there can be.
[[nodiscard]] std::int64_t most_elements_without_overflow(const OperatorLaws& laws, const Operator& op);

/// What the integers among arrays are, one array for each parameter; read by all threads.
[[nodiscard]] KnownValues known_values(const Operator& op, std::span<const Array> arrays);

/// The same of a fold of `num_elements` elements, whose segments are as long at most as `longest` says where
/// it is asked. Takes no time where the number of elements settles it.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  std::span<const Array> arrays, std::int64_t num_elements,
                                                  const std::function<std::int64_t()>& longest);

/// Relies on laws no longer that overflow may break.
[[nodiscard]] OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken);

}  // namespace segfold
