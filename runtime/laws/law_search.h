#pragma once
// Internal helpers for judging an operator's laws and for trying them on its data.
#include "dsl/laws/laws.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Options of a short search for counter-examples. The number of cases limits the search. The time limit is a
/// safeguard that no ordinary operator reaches.
inline constexpr LawOptions kPatientLawOptions{kQuickLawOptions.most_cases, 1.0, kQuickLawOptions.seed};

/// Returns the operator with zero in place of each NaN in a lifted state.
[[nodiscard]] Operator without_nan(Operator op);

/// Searches for counter-examples among elements without infinities and NaN. Tables may have any values.
[[nodiscard]] LawReport check_on_finite_elements(const Operator& op, const ScalarValues* scalars = nullptr);

[[nodiscard]] bool has_floats(const Operator& op);

/// Returns the kind of scalar values for which the finding leaves its law in doubt.
[[nodiscard]] ScalarDoubt doubt_of(const Operator& op, const LawFinding& finding);

}  // namespace segfold
