#include "runtime/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "runtime/judge/table_check.h"

namespace segfold::cli {
namespace {

/// The counter-examples to the laws that the stage needs.
std::string counter_examples(const Stage& stage, const LawReport& report, const Operator& op)
{
    std::string text;
    for (const auto& finding : report.findings) {
        const bool is_needed = std::ranges::any_of(
            stage.needs, [&](const Formula& need) { return need.text() == name(finding.law); });
        if (is_needed && finding.verdict == Verdict::refuted)
            text += "\n" + print(finding, op);
    }
    return text;
}

void require(const Stage& stage, const Problem& problem, const LawReport& report, const Catalogue& catalogue)
{
    try {
        catalogue.require(stage, problem);
    } catch (const InputError& error) {
        throw InputError(error.what() + counter_examples(stage, report, problem.op));
    }
}

/// Adds "NAME=VALUE" of a flag.
void add_setting(std::map<std::string, int>& chosen, std::string_view flag, const std::string& text)
{
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError(
            fmt::format("--{} '{}': a tunable and its value are needed; write NAME=VALUE, such as "
                        "block_threads=128",
                        flag, text));
    const auto name = text.substr(0, equals);
    const auto value = parse_integer(text.substr(equals + 1));
    constexpr int kMost = std::numeric_limits<int>::max();
    if (!value || *value < 0 || *value > kMost)
        throw InputError(fmt::format("--{} '{}': '{}' is not a number from 0 to {}; write {}=NUMBER", flag,
                                     text, text.substr(equals + 1), kMost, name));
    if (!chosen.emplace(name, static_cast<int>(*value)).second)
        throw InputError(
            fmt::format("--{} gives {} twice, {} and {}; once is enough", flag, name, chosen[name], *value));
}

}  // namespace

Kernels::Kernels(const Arguments& arguments)
{
    if (const auto folder = arguments.value("kernels"))
        own_ = Catalogue::from_directory(*folder);
}

const Catalogue& Kernels::catalogue() const { return own_ ? *own_ : Catalogue::standard(); }

Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws)
{
    Problem problem(laws.without_identity ? without_identity(op) : op, form, index_bits);
    problem.laws = laws.usable;
    return problem;
}

Problem make_problem(const Workload& workload, const OperatorLaws& laws)
{
    const auto& segments = workload.segments;
    auto problem = make_problem(workload.op, segments.form, segments.index_bits(), laws);
    if (segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(segments.item_keys.type()));
    problem.checked_tables = unproved_tables(workload);
    return problem;
}

Plan choose_plan(const Arguments& arguments, const Problem& problem, const Shape& shape,
                 const OperatorLaws& laws, const Catalogue& catalogue, const tune::Point* tuned)
{
    require_sound_identity(laws, problem.op, true);
    if (arguments.has("reproducible"))
        for (const auto flag : {"stage", "set"})
            arguments.refuse(flag, "changes the order of combination, which --reproducible fixes");
    const auto numbers = arguments.has("at-launch") ? Numbers::at_launch : Numbers::constant;
    if (tuned != nullptr && chosen_by_flag(arguments).empty()) {
        const auto& stage = catalogue.stage(tuned->stage);
        require(stage, problem, laws.report, catalogue);
        return {&stage, false, emit(problem, stage, tuned->configuration, catalogue, numbers), true};
    }
    const auto asked = arguments.value("stage");
    const auto& stage = asked ? catalogue.stage(*asked) : catalogue.rule_of_thumb(problem, shape);
    require(stage, problem, laws.report, catalogue);
    const auto configuration = configure(stage, settings(arguments), plan_facts(problem, shape));
    Plan plan{&stage, asked.has_value(), emit(problem, stage, configuration, catalogue, numbers)};
    plan.emitted.is_reproducible = arguments.has("reproducible");
    return plan;
}

std::string chosen_by_flag(const Arguments& arguments)
{
    for (const auto* flag : {"stage", "set", "reproducible"})
        if (arguments.has(flag))
            return fmt::format("--{}", flag);
    return "";
}

std::map<std::string, int> settings(const Arguments& arguments)
{
    std::map<std::string, int> chosen;
    for (const auto& text : arguments.values("set"))
        add_setting(chosen, "set", text);
    return chosen;
}

std::vector<PlanWord> plan_words(const Arguments& arguments)
{
    std::vector<PlanWord> plans;
    for (const auto& text : arguments.values("plan")) {
        const auto colon = std::min(text.find(':'), text.size());
        PlanWord plan{text.substr(0, colon), text.substr(std::min(colon + 1, text.size())), {}};
        for (std::size_t begin = 0; begin < plan.tunables.size();) {
            const auto end = std::min(plan.tunables.find(',', begin), plan.tunables.size());
            add_setting(plan.chosen, "plan", plan.tunables.substr(begin, end - begin));
            begin = end + 1;
        }
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace segfold::cli
