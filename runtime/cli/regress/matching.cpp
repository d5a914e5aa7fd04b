// segfold regress: checks that a baseline has cases of the requested operators and stages.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/cli/regress/parts.h"

namespace segfold::cli {
namespace {

constexpr std::size_t kMostListed = 8;

/// The operator and the stage of a case in a baseline.
struct CaseName {
    std::string op, stage;
};

/// Returns "a, b, c" without duplicates. If there are more than kMostListed names, returns "a, b and 7 more".
std::string names_text(const std::vector<std::string>& names)
{
    std::vector<std::string> once;
    for (const auto& name : names)
        if (std::ranges::find(once, name) == once.end())
            once.push_back(name);
    const auto shown = std::min(once.size(), kMostListed);
    const auto rest = once.size() - shown;
    once.resize(shown);
    return fmt::format("{}{}", fmt::join(once, ", "), rest == 0 ? "" : fmt::format(" and {} more", rest));
}

/// Throws InputError if none of the baseline's `cases` has a requested operator and stage. `what` is "times"
/// or "static costs".
void require_case(const Arguments& arguments, std::span<const NamedOperator> ops,
                  const std::vector<CaseName>& cases, std::string_view what)
{
    const auto path = *arguments.value("baseline");
    std::vector<std::string> asked, held, stages;
    for (const auto& named : ops)
        asked.push_back(named.name);
    for (const auto& one : cases) {
        held.push_back(one.op);
        if (std::ranges::find(asked, one.op) != asked.end())
            stages.push_back(one.stage);
    }
    if (stages.empty())
        throw InputError(fmt::format("{}: has no {} of {}, which is asked for, but of the operators {}", path,
                                     what, names_text(asked), names_text(held)));
    const auto stage = arguments.value("stage").value_or("all");
    if (stage != "all" && std::ranges::find(stages, stage) == stages.end())
        throw InputError(fmt::format("{}: has no {} of {} by the stage {}, which is asked for, but by {}",
                                     path, what, names_text(asked), stage, names_text(stages)));
}

}  // namespace

void require_static_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                          const regress::Baseline& baseline)
{
    std::vector<CaseName> cases;
    if (baseline.static_costs)
        for (const auto& cost : baseline.static_costs->costs)
            cases.push_back({cost.op, cost.stage});
    if (!cases.empty())
        return require_case(arguments, ops, cases, "static costs");
    if (arguments.has("static") || baseline.times.empty())
        throw InputError(
            fmt::format("{}: has no static costs{}", *arguments.value("baseline"),
                        baseline.times.empty() ? "" : "; --time compares the times that it has"));
}

void require_time_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                        const regress::Baseline& baseline)
{
    std::vector<CaseName> cases;
    for (const auto& device : baseline.times)
        for (const auto& one : device.cases)
            if (!one.rounds.empty())
                cases.push_back({one.op, one.stage});
    if (!cases.empty())
        return require_case(arguments, ops, cases, "times");
    if (arguments.has("time") || arguments.has("self") || !baseline.static_costs)
        throw InputError(
            fmt::format("{}: has no times{}", *arguments.value("baseline"),
                        baseline.static_costs ? "; --static compares the costs that it has" : ""));
}

}  // namespace segfold::cli
