// segfold regress: names operators by their words on the command line or, in baselines, by their own names.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/regress/parts.h"

namespace segfold::cli {
namespace {

NamedOperator named(std::string words, Operator op, const std::map<std::string, std::string>& scalars = {})
{
    auto laws = quick_laws(op);
    const auto values = given_scalars(op, scalars);
    if (!values.empty() && depends_on_scalars(op, laws.report, values))
        laws = laws_for_scalars(op, std::move(laws.report), values, {});
    require_sound_identity(laws, op);
    return {std::move(words), std::move(op), laws.usable};
}

/// Returns the standard operators with the names `names`.
std::vector<AskedOperator> standard_set(const Arguments& arguments, std::span<const std::string_view> names)
{
    for (const auto& flag : kOperatorFlags)
        arguments.refuse(flag.name, "is a part of an operator, and none is named");
    for (const auto& flag : kScannedFlags)
        arguments.refuse(flag.name, "scans an operator, and none is named");
    arguments.refuse(kScalarFlag.name, "is a value of an operator's scalar, and no operator is named");
    std::vector<AskedOperator> all;
    for (const auto name : names)
        all.push_back({named(std::string(name), standard_operator(name)), std::string(name)});
    return all;
}

/// Renames the operator's cases in a baseline from `by_words` to `own_name`. Does nothing if cases already
/// have the own name.
void rename_cases(regress::Baseline& baseline, const AskedOperator& asked)
{
    const auto rename = [&](auto& cases) {
        if (std::ranges::any_of(cases, [&](const auto& one) { return one.op == asked.own_name; }))
            return;
        for (auto& one : cases)
            if (one.op == asked.by_words.name)
                one.op = asked.own_name;
    };
    if (baseline.static_costs)
        rename(baseline.static_costs->costs);
    for (auto& device : baseline.times)
        rename(device.cases);
}

}  // namespace

std::vector<AskedOperator> asked_operators(const Arguments& arguments,
                                           std::span<const std::string_view> standard)
{
    if (!names_operator(arguments))
        return standard_set(arguments, standard);
    std::string flags;
    for (const auto& flag : join({kOperatorFlags, kScannedFlags}))
        if (const auto value = arguments.value(flag.name))
            flags += fmt::format(" --{}{}", flag.name, flag.value.empty() ? "" : " " + quoted(*value));
    auto list = arguments.operands().empty() ? std::string() : arguments.operands()[0];
    auto ops = operator_arguments(arguments);
    const auto scalars = scalar_texts(arguments, ops);
    std::vector<AskedOperator> all;
    for (auto& op : ops) {
        const auto word = list.substr(0, list.find(','));
        list.erase(0, word.size() + 1);
        auto more = flags;
        for (const auto& parameter : op.parameters)
            if (const auto value = scalars.find(parameter.name); value != scalars.end())
                more += " --scalar " + quoted(value->first + "=" + value->second);
        const auto with_flags = [&](const std::string& first) {
            return first.empty() ? more.substr(1) : quoted(first) + more;
        };
        auto own = with_flags(word.empty() ? word : own_name(op, word));
        all.push_back({named(with_flags(word), std::move(op), scalars), std::move(own)});
    }
    return all;
}

std::vector<NamedOperator> by_words(std::vector<AskedOperator> asked)
{
    std::vector<NamedOperator> all;
    for (auto& one : asked)
        all.push_back(std::move(one.by_words));
    return all;
}

std::vector<NamedOperator> by_own_names(const Arguments& arguments, std::vector<AskedOperator> asked,
                                        std::optional<regress::Baseline>& baseline)
{
    std::vector<NamedOperator> all;
    for (const auto& one : asked) {
        const auto has_its_name = [&](const auto& other) { return other.own_name == one.own_name; };
        auto& added = all.emplace_back(one.by_words);
        if (std::ranges::count_if(asked, has_its_name) == 1) {
            added.name = one.own_name;
            if (baseline)
                rename_cases(*baseline, one);
            continue;
        }
        std::vector<std::string> words;
        for (const auto& other : asked)
            if (has_its_name(other))
                words.push_back(other.by_words.name);
        for (const auto flag : {"save", "baseline"})
            if (arguments.has(flag))
                throw InputError(
                    fmt::format("--{}: {} have one name, '{}', by which a baseline knows an operator; "
                                "give them names of their own, or a run each",
                                flag, fmt::join(words, " and "), one.own_name));
    }
    return all;
}

}  // namespace segfold::cli
