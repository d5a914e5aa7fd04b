#pragma once
// Reads the flag --assume. It lets stages rely on a law even if the law is refuted.
#include <vector>

#include "dsl/laws/laws.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kLawFlags[] = {{"assume", "LAW", true}};

/// Returns the laws that --assume names. Throws InputError for a law that is unknown or that the operator
/// does not claim.
std::vector<Law> assumed_laws(const Arguments& arguments, const Operator& op);

}  // namespace segfold::cli
