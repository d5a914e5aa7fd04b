#pragma once
// Shared by the judging of an operator's laws and by the trial of its data; internal.
#include "dsl/laws/laws.h"
#include "runtime/laws/operator_laws.h"

namespace segfold {

/// The clock is a safeguard alone: it never rings for an operator of ordinary size.
inline constexpr LawOptions kPatientLawOptions{kQuickLawOptions.most_cases, 1.0, kQuickLawOptions.seed};

/// The operator with zeros where its lift gives NaN.
[[nodiscard]] Operator without_nan(Operator op);

[[nodiscard]] bool has_floats(const Operator& op);

/// Which values of the scalars a finding that refutes nothing leaves in doubt.
[[nodiscard]] ScalarDoubt doubt_of(const Operator& op, const LawFinding& finding);

}  // namespace segfold
