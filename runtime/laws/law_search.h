#pragma once
// Internal helpers for judging an operator's laws, in general and on given data.
#include "dsl/laws/laws.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// Options of a short search for counter-examples. The number of cases ends the search, so its outcome does
/// not depend on speed. The time limit is a safeguard that ordinary operators never reach.
inline constexpr LawOptions kPatientLawOptions{kQuickLawOptions.most_cases, 1.0, kQuickLawOptions.seed};

/// Returns the operator with a lift that replaces each NaN in the state by zero.
[[nodiscard]] Operator without_nan(Operator op);

/// Searches for counter-examples among elements without infinities and NaN. Tables may hold any values.
[[nodiscard]] LawReport check_on_finite_elements(const Operator& op, const ScalarValues* scalars = nullptr);

[[nodiscard]] bool has_floats(const Operator& op);

/// Returns the kind of scalar values for which the verdict of `finding` may not hold.
[[nodiscard]] ScalarDoubt doubt_of(const Operator& op, const LawFinding& finding);

}  // namespace segfold
