#pragma once
// Internal helpers for judging an operator's laws and for trying them on its data.
#include "dsl/laws/laws.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Options of a short search. No ordinary operator reaches the time limit, which is a safeguard.
inline constexpr LawOptions kPatientLawOptions{kQuickLawOptions.most_cases, 1.0, kQuickLawOptions.seed};

/// Returns the operator with zero in place of each NaN in a lifted state.
[[nodiscard]] Operator without_nan(Operator op);

/// Searches among elements without infinities and NaN; tables may have any values.
[[nodiscard]] LawReport check_on_finite_elements(const Operator& op, const ScalarValues* scalars = nullptr);

[[nodiscard]] bool has_floats(const Operator& op);

/// Returns the values of the scalars for which the finding leaves its law in doubt.
[[nodiscard]] ScalarDoubt doubt_of(const Operator& op, const LawFinding& finding);

}  // namespace segfold
