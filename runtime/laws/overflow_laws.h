#pragma once
// Decides which laws overflow may break in a fold, and within which limits it breaks none.
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
/// A law is safe if its verdict covers overflow. A proof or refutation on machine words covers every
/// overflow. A proof on unbounded integers or reals covers none. A search covers the cases that it tried.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  const KnownValues& known, FoldLength length);

/// Returns the largest number of elements for which overflow breaks no law, whatever the data are. It is 0, a
/// power of two, or the largest std::int64_t.
[[nodiscard]] std::int64_t most_elements_without_overflow(const OperatorLaws& laws, const Operator& op);

/// Returns the ranges of the integers in `arrays`, one array per parameter. Reads the arrays with all
/// threads.
[[nodiscard]] KnownValues known_values(const Operator& op, std::span<const Array> arrays);

/// Returns the laws on which stages rely and which overflow may break in a fold of `num_elements` elements of
/// `arrays`.
///
/// `longest` returns the length of the longest segment. It is called only if the number of elements alone
/// does not rule out overflow.
[[nodiscard]] std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                                  std::span<const Array> arrays, std::int64_t num_elements,
                                                  const std::function<std::int64_t()>& longest);

/// Limits on values and sizes within which overflow breaks no law.
struct SparedByOverflow {
    KnownValues known;  ///< ranges of the integers in columns, tables and scalars
    FoldLength length;  ///< largest length of a segment, and largest number of elements

    /// True if values in `of` and sizes `sizes` lie within these limits.
    [[nodiscard]] bool holds(const KnownValues& of, FoldLength sizes) const;
};

/// Returns limits that include the workload and within which overflow breaks no law. Returns nothing if the
/// workload may overflow, or if its values refute a law that so far only overflow refutes.
///
/// If possible, the limits are widened to the next powers of two, and to include the limits `known`. `known`
/// may be null.
[[nodiscard]] std::optional<SparedByOverflow> spared_by_overflow(const OperatorLaws& laws,
                                                                 const Workload& workload,
                                                                 const SparedByOverflow* known);

/// Returns the laws without reliance on the laws in `broken`, which overflow may break.
[[nodiscard]] OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken);

}  // namespace segfold
