#include "runtime/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/error.h"

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

}  // namespace

Kernels::Kernels(const Arguments& arguments)
{
    if (const auto folder = arguments.value("kernels"))
        own_ = Catalogue::from_directory(*folder);
}

const Catalogue& Kernels::catalogue() const { return own_ ? *own_ : Catalogue::standard(); }

Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws)
{
    Problem problem(op, form, index_bits);
    problem.laws = laws.usable;
    return problem;
}

Problem make_problem(const Workload& workload, const OperatorLaws& laws)
{
    const auto& segments = workload.segments;
    auto problem = make_problem(workload.op, segments.form, segments.index_bits(), laws);
    if (segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(segments.item_keys.type()));
    return problem;
}

Plan choose_plan(const Arguments& arguments, const Problem& problem, const Shape& shape,
                 const OperatorLaws& laws, const Catalogue& catalogue)
{
    if (!laws.has_sound_identity)
        throw InputError(
            fmt::format("operator {} states an identity that is none, and every stage relies on it\n{}",
                        problem.op.name, print(*laws.report.find(Law::identity), problem.op)));
    if (arguments.has("reproducible"))
        for (const auto flag : {"stage", "set"})
            arguments.refuse(flag, "changes the order of combination, which --reproducible fixes");
    const auto asked = arguments.value("stage");
    const auto& stage = asked ? catalogue.stage(*asked) : catalogue.rule_of_thumb(problem, shape);
    require(stage, problem, laws.report, catalogue);
    Plan plan{
        &stage, asked.has_value(),
        emit(problem, stage, configure(stage, settings(arguments), plan_facts(problem, shape)), catalogue)};
    plan.emitted.is_reproducible = arguments.has("reproducible");
    return plan;
}

std::map<std::string, int> settings(const Arguments& arguments)
{
    std::map<std::string, int> chosen;
    for (const auto& text : arguments.values("set")) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError(
                fmt::format("--set '{}': a tunable and its value are needed; write NAME=VALUE, such as "
                            "block_threads=128",
                            text));
        const auto name = text.substr(0, equals);
        const auto value = parse_integer(text.substr(equals + 1));
        constexpr int kMost = std::numeric_limits<int>::max();
        if (!value || *value < 0 || *value > kMost)
            throw InputError(fmt::format("--set '{}': '{}' is not a number from 0 to {}; write {}=NUMBER",
                                         text, text.substr(equals + 1), kMost, name));
        if (!chosen.emplace(name, static_cast<int>(*value)).second)
            throw InputError(
                fmt::format("--set gives {} twice, {} and {}; once is enough", name, chosen[name], *value));
    }
    return chosen;
}

}  // namespace segfold::cli
