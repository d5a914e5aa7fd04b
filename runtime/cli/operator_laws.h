#pragma once
// What a run may rely on of an operator's laws.
#include <string>
#include <vector>

#include "codegen/problem.h"
#include "dsl/laws.h"

namespace segfold::cli {

/// A search for counter-examples, and what follows from it.
///
/// Many an operator on floats obeys its laws but for NaN: max(-inf, nan) is -inf, so -inf is not neutral.
/// Associativity and identity that NaN alone refutes are relied on all the same, with a warning; nothing
/// could run without them.
struct OperatorLaws {
    LawReport report;
    UsableLaws usable;
    bool has_sound_identity = true;   ///< false: it is refuted, and not by NaN alone
    std::vector<Law> refuted_by_nan;  ///< relied on, but for NaN
};

/// Searches as long as `options` say.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {});

/// A short search, bounded by cases and not by the clock, so that the same operator always gets the same
/// plan.
OperatorLaws quick_laws(const Operator& op);

/// What the user should know before relying on results; no line breaks at the ends.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op);

}  // namespace segfold::cli
