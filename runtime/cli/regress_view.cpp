#include "runtime/cli/regress_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cli/table.h"

namespace segfold::cli {
namespace {

constexpr std::size_t kShownBreaches = 5;

using regress::RelationOutcome;

std::string replay(const RegressReport& report, const OperatorRelations& relations,
                   const RelationOutcome& outcome)
{
    return fmt::format("segfold regress {} --relation {} --stage {} --tiles {} --seed {} --elements {} {}",
                       relations.op, outcome.relation, outcome.stage, name(outcome.tiles), outcome.seed,
                       report.num_elements, report.replay_words);
}

std::string indented(std::string text)
{
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
        text.replace(at, 1, "\n    ");
    return "    " + text + "\n";
}

/// "ok", "broken", "fault" or "-" of an operator under a relation, all stages together.
std::string cell(const std::vector<RelationOutcome>& outcomes, std::string_view relation)
{
    std::size_t held = 0, tried = 0, faults = 0;
    for (const auto& outcome : outcomes) {
        if (outcome.relation != relation || !outcome.objection.empty())
            continue;
        ++tried;
        held += outcome.held();
        faults += outcome.breach && outcome.breach->is_fault;
    }
    if (tried == 0)
        return "-";
    if (held == tried)
        return fmt::format("{} ok", tried);
    return fmt::format("{} of {} {}", tried - held, tried, faults == 0 ? "broken" : "broken, faults");
}

std::string print_table(const RegressReport& report)
{
    std::vector<Table::Column> columns = {{"relation"}};
    for (const auto& relations : report.relations)
        columns.push_back({relations.op});
    Table table(std::move(columns));
    for (const auto& relation : regress::relations()) {
        std::vector<std::string> row = {std::string(relation.name)};
        for (const auto& relations : report.relations)
            row.push_back(cell(relations.outcomes, relation.name));
        if (std::any_of(row.begin() + 1, row.end(), [](const auto& text) { return text != "-"; }))
            table.add(std::move(row));
    }
    return table.print();
}

std::string print_breach(const RegressReport& report, const OperatorRelations& relations,
                         const RelationOutcome& outcome)
{
    const auto& breach = *outcome.breach;
    auto text =
        fmt::format("\n{} of {} is broken in {} ({}; segments given as {}, {} elements, {}, seed {}):\n",
                    outcome.relation, relations.op, outcome.stage, breach.configuration, name(breach.form),
                    breach.num_elements, count_text(breach.num_segments, "segment"), outcome.seed);
    text += indented(std::string(regress::relation(outcome.relation).claim) + ", and here it is not so");
    return text + indented(breach.text) + indented("again: " + replay(report, relations, outcome));
}

std::string print_relations(const RegressReport& report)
{
    std::size_t num_tried = 0, num_broken = 0;
    std::string breaches;
    for (const auto& relations : report.relations)
        for (const auto& outcome : relations.outcomes) {
            num_tried += outcome.objection.empty();
            if (!outcome.breach)
                continue;
            if (++num_broken <= kShownBreaches)
                breaches += print_breach(report, relations, outcome);
        }
    if (num_broken > kShownBreaches)
        breaches += fmt::format("\nand {} more; --relation and --stage leave others out\n",
                                num_broken - kShownBreaches);
    const auto tried = count_text(static_cast<std::int64_t>(num_tried), "relation");
    return print_facts({{"back end", report.backend}}) + "\n" + print_table(report) + breaches +
           (num_broken == 0 ? fmt::format("\n{} tried, all hold\n", tried)
                            : fmt::format("\n{} of {} broken\n", num_broken, tried));
}

Json json_of(const RegressReport& report, const OperatorRelations& relations)
{
    Json list = Json::array();
    for (const auto& outcome : relations.outcomes) {
        Json row = {{"relation", outcome.relation},
                    {"stage", outcome.stage},
                    {"tiles", name(outcome.tiles)},
                    {"seed", outcome.seed}};
        row["outcome"] = outcome.held()               ? "held"
                         : !outcome.objection.empty() ? "left_out"
                         : outcome.breach->is_fault   ? "fault"
                                                      : "broken";
        if (!outcome.objection.empty())
            row["reason"] = outcome.objection;
        if (outcome.breach) {
            row["form"] = name(outcome.breach->form);
            row["configuration"] = outcome.breach->configuration;
            row["num_elements"] = outcome.breach->num_elements;
            row["num_segments"] = outcome.breach->num_segments;
            row["reason"] = outcome.breach->text;
            row["replay"] = replay(report, relations, outcome);
        }
        list.push_back(std::move(row));
    }
    return {{"operator", relations.op}, {"outcomes", std::move(list)}};
}

}  // namespace

int RegressReport::exit_code() const
{
    const auto is_broken = [](const OperatorRelations& of) {
        return std::ranges::any_of(of.outcomes,
                                   [](const auto& outcome) { return outcome.breach.has_value(); });
    };
    return std::ranges::any_of(relations, is_broken) ? 1 : 0;
}

std::string print(const RegressReport& report) { return print_relations(report); }

Json json_of(const RegressReport& report)
{
    Json document = {{"backend", report.backend}, {"num_elements", report.num_elements}};
    document["relations"] = Json::array();
    for (const auto& relations : report.relations)
        document["relations"].push_back(json_of(report, relations));
    document["exit_code"] = report.exit_code();
    return document;
}

}  // namespace segfold::cli
