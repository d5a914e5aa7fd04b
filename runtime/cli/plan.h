#pragma once
// Which stage runs, in which configuration, and whether the operator's laws allow it.
#include <optional>

#include "codegen/emit.h"
#include "dsl/laws.h"
#include "runtime/cli/arguments.h"

namespace segfold::cli {

/// The flags that choose a plan.
inline constexpr Flag kPlanFlags[] = {{"stage", "STAGE"}, {"set", "NAME=VALUE", true}, {"kernels", "DIR"}};

/// The stages of the folder --kernels, or those that came with the program.
class Kernels {
public:
    explicit Kernels(const Arguments& arguments);
    [[nodiscard]] const Catalogue& catalogue() const;

private:
    std::optional<Catalogue> own_;
};

/// What a short search found out about an operator's laws. It is bounded by cases and not by the clock, so
/// that the same operator always gets the same plan.
LawReport quick_laws(const Operator& op);

/// A problem that relies on no law that `report` refutes.
Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const LawReport& report);

/// A stage with its configuration and its text.
struct Plan {
    const Stage* stage = nullptr;  ///< of the catalogue
    bool is_asked = false;         ///< by --stage; else the rule of thumb chose
    Emitted emitted;

    /// "asked for", "rule of thumb"
    [[nodiscard]] std::string chosen_by() const { return is_asked ? "asked for" : "rule of thumb"; }
};

/// The plan of --stage and --set, or of the rule of thumb.
///
/// Throws InputError for a stage that cannot serve, with the counter-example where that is because a law is
/// refuted, and for an operator whose identity is refuted, which all stages rely on.
Plan choose_plan(const Arguments& arguments, const Problem& problem, const Shape& shape,
                 const LawReport& report, const Catalogue& catalogue);

/// What the user should know of refuted laws that a plan could do without; no line breaks at the ends.
std::vector<std::string> law_warnings(const LawReport& report, const Operator& op);

/// The values of --set. Throws InputError.
std::map<std::string, int> settings(const Arguments& arguments);

}  // namespace segfold::cli
