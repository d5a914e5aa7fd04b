#include "runtime/cli/regress/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::size_t kShownBreaches = 5;
constexpr std::size_t kShownReasons = 12;  // most reasons shown per operator for cases without a time

using regress::RelationOutcome;

/// Summarises a relation over all stages: "9 ok", "2 of 9 broken", "2 of 9 broken, faults" or "-".
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

std::string print_table(const RelationsReport& report)
{
    std::vector<TextTable::Column> columns = {{"relation"}};
    for (const auto& relations : report.operators)
        columns.push_back({relations.op});
    TextTable table(std::move(columns));
    for (const auto& relation : regress::relations()) {
        std::vector<std::string> row = {std::string(relation.name)};
        for (const auto& relations : report.operators)
            row.push_back(cell(relations.outcomes, relation.name));
        if (std::any_of(row.begin() + 1, row.end(), [](const auto& text) { return text != "-"; }))
            table.add(std::move(row));
    }
    return table.print();
}

std::string print_breach(const RelationsReport& report, const OperatorRelations& relations,
                         const RelationOutcome& outcome)
{
    const auto& breach = *outcome.breach;
    auto text = fmt::format("\n{} of {} is broken in {} ({}; segments given as {}, {}, {}, seed {}):\n",
                            outcome.relation, relations.op, outcome.stage, breach.configuration,
                            name(breach.form), count_text(breach.num_elements, "element"),
                            count_text(breach.num_segments, "segment"), outcome.seed);
    text += indented(std::string(regress::relation(outcome.relation).claim) + ", and here it is not so");
    return text + indented(breach.text) + indented("again: " + replay_command(report, relations, outcome));
}

/// Joins names: "slices, devices and ranks".
std::string listed(const std::vector<std::string_view>& names)
{
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
    return text;
}

/// Lists the relations that no stage could try, grouped by reason.
std::string print_untried(const OperatorRelations& relations)
{
    std::vector<std::pair<std::string, std::vector<std::string_view>>> by_reason;
    std::size_t num_relations = 0;
    for (const auto& relation : regress::relations()) {
        std::set<std::string> reasons;
        for (const auto& outcome : relations.outcomes)
            if (outcome.relation == relation.name)
                reasons.insert(outcome.objection);
        num_relations += !reasons.empty();
        if (reasons.size() != 1 || reasons.begin()->empty())
            continue;
        auto found =
            std::ranges::find(by_reason, *reasons.begin(), [](const auto& row) { return row.first; });
        if (found == by_reason.end())
            found = by_reason.insert(found, {*reasons.begin(), {}});
        found->second.push_back(relation.name);
    }
    std::string text;
    for (const auto& [reason, names] : by_reason)
        text += names.size() == num_relations && num_relations > 1
                    ? fmt::format("nothing is tried with {}: {}\n", relations.op, reason)
                    : fmt::format("not tried with {}: {}: {}\n", relations.op, listed(names), reason);
    return text;
}

/// Describes the tile sizes that were tried, such as " with the smallest tiles alone". Empty if both sizes
/// were tried.
std::string tiles_text(const RelationsReport& report)
{
    std::set<regress::Tiles> tiles;
    for (const auto& relations : report.operators)
        for (const auto& outcome : relations.outcomes)
            if (outcome.objection.empty())
                tiles.insert(outcome.tiles);
    if (tiles.size() != 1)
        return "";
    return *tiles.begin() == regress::Tiles::smallest ? " with the smallest tiles alone"
                                                      : " with the tiles of a run alone";
}

/// Returns the number of outcomes with unjudged results, and describes the first one. Empty if there are
/// none.
std::string print_unjudged(const RelationsReport& report)
{
    std::size_t count = 0;
    std::string first;
    for (const auto& relations : report.operators)
        for (const auto& outcome : relations.outcomes)
            if (outcome.held() && !outcome.unjudged.empty() && count++ == 0)
                first = fmt::format("{} of {} in {}, {}", outcome.relation, relations.op, outcome.stage,
                                    outcome.unjudged);
    return count == 0 ? ""
                      : fmt::format("\nin {} not all results can be judged, the first: {}\n",
                                    count_text(static_cast<std::int64_t>(count), "relation"), first);
}

std::string print_relations(const RelationsReport& report)
{
    std::size_t num_tried = 0, num_broken = 0;
    std::string breaches;
    for (const auto& relations : report.operators)
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
    std::vector<std::pair<std::string, std::string>> facts = {{"back end", report.backend}};
    if (report.num_ranks > 0)
        facts.emplace_back("ranks", std::to_string(report.num_ranks));
    else if (report.num_devices > 1)
        facts.emplace_back("devices",
                           fmt::format("{}, and as many threads that stand for ranks", report.num_devices));
    std::string untried;
    for (const auto& relations : report.operators) {
        if (!relations.tried_part.empty())
            facts.emplace_back("tried", fmt::format("of {}: {}", relations.op, relations.tried_part));
        untried += print_untried(relations);
    }
    const auto tiles = tiles_text(report);
    return print_facts(facts) + "\n" + print_table(report) + (untried.empty() ? "" : "\n") + untried +
           breaches + print_unjudged(report) +
           (num_tried == 0    ? "\nno relation could be tried\n"
            : num_broken == 0 ? fmt::format("\n{} tried{}, all hold\n", tried, tiles)
                              : fmt::format("\n{} of {} broken{}\n", num_broken, tried, tiles));
}

std::string changes_text(const StaticReport& report)
{
    TextTable table({{"operator"},
                     {"stage"},
                     {"form"},
                     {"for"},
                     {"what"},
                     {"then", TextTable::Align::right},
                     {"now", TextTable::Align::right},
                     {""}});
    for (const auto& change : report.verdict.changes)
        table.add({change.cost.op, change.cost.stage, change.cost.form, change.cost.architecture, change.what,
                   std::to_string(change.then), std::to_string(change.now),
                   change.is_worse() ? "worse" : "better"});
    return table.empty() ? "" : "\n" + table.print();
}

std::string print_static(const StaticReport& report)
{
    if (!report.left_out.empty())
        return "static costs left out: " + report.left_out + "\n";
    const auto texts = count_text(static_cast<std::int64_t>(report.costs.costs.size()), "text");
    const auto compiled = fmt::format("{} compiled by {}", texts, report.costs.compiler);
    if (report.baseline_compiler.empty())
        return print_facts({{"static costs", compiled}}) + "\nno baseline to compare them with\n";
    const auto& verdict = report.verdict;
    auto text = print_facts({{"static costs", compiled},
                             {"baseline", fmt::format("{}, {}", report.baseline, report.baseline_compiler)}});
    if (!verdict.same_compiler)
        text +=
            "\nAnother compiler than the baseline's: 8 registers and a quarter more instructions do not "
            "count.\n";
    text += changes_text(report) + "\n";
    if (verdict.num_new != 0)
        text += fmt::format("{} without a baseline\n", count_text(verdict.num_new, "text"));
    if (verdict.num_missing != 0)
        text += fmt::format("{} of the baseline not compiled now\n", count_text(verdict.num_missing, "text"));
    if (verdict.num_compared == 0)
        return text + "nothing to compare\n";
    const auto* what = verdict.any_worse()       ? "some cost more"
                       : verdict.changes.empty() ? "none costs more"
                                                 : "none costs more; --save renews the baseline";
    return text + fmt::format("{} compared, {}\n", count_text(verdict.num_compared, "text"), what);
}

/// Returns a table of one operator's median ratios, with a row per stage and a column per layout.
std::string ratio_table(const TimeReport& report, const std::string& op)
{
    std::vector<std::string> layouts, stages;
    std::map<std::pair<std::string, std::string>, std::string> cells;
    for (const auto& outcome : report.outcomes) {
        const auto& now = outcome.now;
        if (now.op != op)
            continue;
        if (std::ranges::find(layouts, now.layout) == layouts.end())
            layouts.push_back(now.layout);
        if (std::ranges::find(stages, now.stage) == stages.end())
            stages.push_back(now.stage);
        const bool is_borrowed = now.against != "whole" && now.against != "read";
        cells[{now.stage, now.layout}] =
            now.rounds.empty() ? "-" : fmt::format("{:.3g}{}", outcome.median, is_borrowed ? "*" : "");
    }
    std::vector<TextTable::Column> columns = {{op}};
    for (const auto& layout : layouts)
        columns.push_back({layout, TextTable::Align::right});
    TextTable table(std::move(columns));
    for (const auto& stage : stages) {
        std::vector<std::string> row = {stage};
        for (const auto& layout : layouts)
            row.push_back(cells[{stage, layout}]);
        table.add(std::move(row));
    }
    return table.print();
}

/// Lists an operator's cases without a time, such as "lane_scan over whole, zipf: REASON". Reasons that
/// concern one case come first, because they concern its time rather than its kind.
std::string print_unmeasured(const TimeReport& report, const std::string& op)
{
    struct Group {
        std::string stage, layouts, reason;
        std::size_t num_cases;
    };
    std::vector<Group> groups;
    for (const auto& outcome : report.outcomes) {
        const auto& now = outcome.now;
        if (now.op != op || !now.rounds.empty() || now.reason.empty())
            continue;
        const auto same = std::ranges::find_if(groups, [&](const Group& group) {
            return group.stage == now.stage && group.reason == now.reason;
        });
        if (same == groups.end()) {
            groups.push_back({now.stage, now.layout, now.reason, 1});
        } else {
            same->layouts += ", " + now.layout;
            ++same->num_cases;
        }
    }
    if (groups.empty())
        return "";
    std::ranges::stable_sort(groups, {}, [](const Group& group) { return group.num_cases > 1; });
    std::string text = "\nnot measured:\n";
    for (std::size_t i = 0; i < std::min(groups.size(), kShownReasons); ++i)
        text += indented(fmt::format("{} over {}: {}", groups[i].stage, groups[i].layouts, groups[i].reason));
    if (groups.size() > kShownReasons)
        text += indented(
            fmt::format("and {} more; --json has the reason of each case", groups.size() - kShownReasons));
    return text;
}

/// Returns a relative change of time as text, such as "+5.0 %" or "112-fold".
std::string change_text(double effect)
{
    return effect < 9 ? fmt::format("{:+.1f} %", 100 * effect) : fmt::format("{:.0f}-fold", 1 + effect);
}

/// Returns a row of the table of outcomes, with "-" in place of missing measurements.
std::vector<std::string> outcome_row(const regress::TimeOutcome& outcome)
{
    std::vector<std::string> row = {outcome.now.op, outcome.now.stage, outcome.now.layout,
                                    fmt::format("{:.4g}", outcome.baseline_median)};
    if (outcome.now.rounds.empty())
        row.insert(row.end(), 4, "-");
    else
        for (const auto& text :
             {fmt::format("{:.4g}", outcome.median), change_text(outcome.effect),
              fmt::format("{:.1f} %", 100 * outcome.noise), fmt::format("{:.1g}", outcome.p)})
            row.push_back(text);
    row.push_back(std::string(name(outcome.verdict)) + (outcome.reason.empty() ? "" : ": " + outcome.reason));
    return row;
}

std::string print_outcomes(const TimeReport& report)
{
    TextTable table({{"operator"},
                     {"stage"},
                     {"layout"},
                     {"then", TextTable::Align::right},
                     {"now", TextTable::Align::right},
                     {"change", TextTable::Align::right},
                     {"noise", TextTable::Align::right},
                     {"p", TextTable::Align::right},
                     {""}});
    using enum regress::Verdict;
    for (const auto verdict : {worse, ambiguous, better})
        for (const auto& outcome : report.outcomes)
            if (outcome.verdict == verdict)
                table.add(outcome_row(outcome));
    return table.empty() ? "" : "\n" + table.print();
}

std::string print_selves(const TimeReport& report)
{
    if (report.selves.empty())
        return "";
    std::int64_t alarms = 0, with_alarm = 0, ambiguous = 0, cases = 0;
    for (const auto& self : report.selves) {
        alarms += self.num_alarms;
        with_alarm += self.num_alarms != 0;
        ambiguous += self.num_ambiguous;
        cases += self.num_cases;
    }
    return fmt::format("\nagainst itself: {} in {} of {}, {} of {} cases too noisy to tell\n",
                       count_text(alarms, "alarm"), with_alarm,
                       count_text(static_cast<std::int64_t>(report.selves.size()), "comparison"), ambiguous,
                       cases);
}

std::string print_times(const TimeReport& report)
{
    if (!report.left_out.empty())
        return "times left out: " + report.left_out + "\n";
    std::vector<std::pair<std::string, std::string>> facts = {
        {"device", report.times.driver.empty()
                       ? report.times.device
                       : fmt::format("{}, driver {}", report.times.device, report.times.driver)},
        {"times", fmt::format("{}; over those of the same stage unsegmented, '*' of another one; whole: "
                              "over those of reading",
                              count_text(report.times.num_elements, "element"))}};
    if (!report.baseline.empty())
        facts.emplace_back("baseline", report.baseline);
    for (const auto& remark : report.remarks)
        facts.emplace_back("note", remark);
    auto text = print_facts(facts);
    std::vector<std::string> ops;
    for (const auto& outcome : report.outcomes)
        if (std::ranges::find(ops, outcome.now.op) == ops.end())
            ops.push_back(outcome.now.op);
    for (const auto& op : ops)
        text += "\n" + ratio_table(report, op) + print_unmeasured(report, op);
    text += print_outcomes(report) + print_selves(report);
    if (!report.any_measured())
        text += "\nno time was measured\n";
    if (report.baseline.empty())
        return text + "\nno baseline to compare them with\n";
    using enum regress::Verdict;
    // Leaves out cases that the stage cannot run, because these have no times in any baseline.
    const auto unknown = std::ranges::count_if(report.outcomes, [](const regress::TimeOutcome& outcome) {
        return outcome.verdict == no_baseline && !outcome.now.rounds.empty();
    });
    text += "\n";
    if (unknown != 0)
        text += fmt::format("{} without a baseline\n", count_text(unknown, "case"));
    const auto compared = static_cast<std::int64_t>(report.outcomes.size()) - report.count(no_baseline);
    if (compared == 0)
        return text + "nothing to compare\n";
    return text + fmt::format("{} compared: {} worse, {} better, {} too noisy to tell\n",
                              count_text(compared, "case"), report.count(worse), report.count(better),
                              report.count(ambiguous));
}

}  // namespace

std::string print(const RegressReport& report)
{
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
    if (report.relations)
        add(print_relations(*report.relations));
    if (report.static_costs)
        add(print_static(*report.static_costs));
    if (report.times)
        add(print_times(*report.times));
    if (!report.saved.empty())
        add("saved to " + report.saved + "\n");
    if (!report.dropped.empty())
        add(report.dropped + "\n");
    if (!report.unsaved.empty())
        add(report.unsaved + "\n");
    add(fmt::format("not tried: {}\n", fmt::join(untried(report), "; ")));
    return text;
}

}  // namespace segfold::cli
