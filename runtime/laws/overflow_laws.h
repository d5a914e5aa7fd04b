#pragma once
// Laws that hold while nothing overflows, and folds in which something may overflow.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/laws/data/fold_growth.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Returns the laws on which stages rely and which overflow may break in a fold of this length.
///
/// A law is safe if its verdict covers overflow. Proofs and refutations on machine words cover every
/// overflow; proofs on unbounded integers or reals cover none; a search covers the cases that it tried.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  const KnownValues& known, FoldLength length);

/// Returns the largest number of elements for which overflow breaks no law, whatever the data are: 0, a power
/// of two, or the largest number possible.
[[nodiscard]] std::int64_t most_elements_without_overflow(const OperatorLaws& laws, const Operator& op);

/// Returns the ranges of the integers in arrays, one array per parameter. All threads read them.
[[nodiscard]] KnownValues known_values(const Operator& op, std::span<const Array> arrays);

/// Returns the laws on which stages rely and which overflow may break in a fold of `num_elements` elements of
/// `arrays`.
///
/// `longest` returns the length of the longest segment. It is called only if the number of elements does not
/// decide.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  std::span<const Array> arrays, std::int64_t num_elements,
                                                  const std::function<std::int64_t()>& longest);

/// Ranges of integers in columns, tables and scalars, and fold sizes, for which overflow breaks no law.
struct SparedByOverflow {
    KnownValues known;
    FoldLength length;

    /// True if these values and sizes lie within `known` and `length`.
    [[nodiscard]] bool holds(const KnownValues& of, FoldLength sizes) const;
};

/// Returns values and sizes for which overflow breaks no law. They include the workload's and, if possible,
/// the next powers of two and the values and sizes of `known`, which may be null. Returns nothing if the
/// workload may overflow, or if its values refute a law that so far only overflow refutes.
[[nodiscard]] std::optional<SparedByOverflow> spared_by_overflow(const OperatorLaws& laws,
                                                                 const Workload& workload,
                                                                 const SparedByOverflow* known);

/// Stops relying on the laws in `broken`, which overflow may break.
[[nodiscard]] OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken);

}  // namespace segfold
