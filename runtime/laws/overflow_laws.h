#pragma once
// Laws that hold while nothing overflows, and folds that may overflow.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/laws/data/fold_growth.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// The laws that are relied on, and that overflow in such a fold may break without a verdict that speaks of
/// it: what is proved or refuted of words speaks of all, what is proved of integers or reals of none, and a
/// search of what it has tried.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  const KnownValues& known, FoldLength length);

/// The most elements with which no fold breaks a law so, whatever the data: a power of two, 0, or the largest
/// number.
[[nodiscard]] std::int64_t most_elements_without_overflow(const OperatorLaws& laws, const Operator& op);

/// Ranges of the integers of arrays, one array for each parameter; read by all threads.
[[nodiscard]] KnownValues known_values(const Operator& op, std::span<const Array> arrays);

/// The same for a fold of `num_elements` elements; `longest` gives the longest segment when asked. Takes no
/// time if the number of elements settles it.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  std::span<const Array> arrays, std::int64_t num_elements,
                                                  const std::function<std::int64_t()>& longest);

/// Integers of columns, tables and scalars, and sizes of folds of them, in which no law breaks by overflow.
struct SparedByOverflow {
    KnownValues known;
    FoldLength length;

    /// Whether it speaks of such a fold, too.
    [[nodiscard]] bool holds(const KnownValues& of, FoldLength sizes) const;
};

/// What spares a fold of a workload and, where it can, others of values and sizes of the same order, and
/// those that `known` spares; `known` may be null. Nothing where the workload may overflow, or its values
/// refute a law that overflow alone is known to refute.
[[nodiscard]] std::optional<SparedByOverflow> spared_by_overflow(const OperatorLaws& laws,
                                                                 const Workload& workload,
                                                                 const SparedByOverflow* known);

/// Relies on laws no longer that overflow may break.
[[nodiscard]] OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken);

}  // namespace segfold
