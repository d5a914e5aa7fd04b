#include "runtime/cli/operator_laws.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/check.h"

namespace segfold::cli {
namespace {

/// The clock is a safeguard alone: it never rings for an operator of ordinary size.
constexpr LawOptions kPatientLawOptions{kQuickLawOptions.most_cases, 1.0, kQuickLawOptions.seed};

/// The operator with zeros where its lift gives NaN.
Operator without_nan(Operator op)
{
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        auto& value = op.lift.assignments[i].value;
        if (is_float(op.state[i].type))
            value = select(call("isnan", {value}), Expression(0.0), value);
    }
    return check(std::move(op));
}

bool has_floats(const Operator& op)
{
    return std::ranges::any_of(op.state, [](const auto& field) { return is_float(field.type); });
}

}  // namespace

OperatorLaws judge_laws(const Operator& op, const LawOptions& options)
{
    OperatorLaws laws;
    laws.report = check_laws(op, options);
    const bool is_in_doubt = laws.report.refuted(Law::associative) || laws.report.refuted(Law::identity);
    if (is_in_doubt && has_floats(op)) {
        const auto but_for_nan = check_laws(without_nan(op), options);
        for (const auto law : {Law::associative, Law::identity})
            if (laws.report.refuted(law) && !but_for_nan.refuted(law))
                laws.refuted_by_nan.push_back(law);
    }
    const auto holds = [&](Law law) {
        return !laws.report.refuted(law) || std::ranges::count(laws.refuted_by_nan, law) != 0;
    };
    laws.usable = {holds(Law::associative), law_usable(laws.report, Law::commutative, op),
                   law_usable(laws.report, Law::idempotent, op)};
    laws.has_sound_identity = holds(Law::identity);
    return laws;
}

OperatorLaws quick_laws(const Operator& op) { return judge_laws(op, kPatientLawOptions); }

std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op)
{
    std::vector<std::string> warnings;
    const auto warn = [&](Law law, const std::string& what) {
        warnings.push_back(
            fmt::format("operator {} {}\n{}", op.name, what, print(*laws.report.find(law), op)));
    };
    for (const auto law : laws.refuted_by_nan)
        warn(law,
             fmt::format("{} for all states but NaN; results of segments with NaN may depend on the stage",
                         law == Law::identity ? "has an identity" : "is associative"));
    if (!laws.usable.associative)
        warn(Law::associative,
             "is not associative; only stages that fold strictly from left to right can serve");
    if (laws.report.refuted(Law::commutative))
        warn(Law::commutative, "is not commutative; the order of the elements is kept");
    if (laws.report.refuted(Law::idempotent))
        warn(Law::idempotent, "is not idempotent; no element is folded twice");
    return warnings;
}

}  // namespace segfold::cli
