// Writes the report of segfold regress as one JSON document.
#include <nlohmann/json.hpp>

#include "runtime/cli/regress/view.h"

namespace segfold::cli {
namespace {

Json report_json(const RelationsReport& report, const OperatorRelations& relations)
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
        if (!outcome.unjudged.empty())
            row["unjudged"] = outcome.unjudged;
        if (outcome.breach) {
            row["form"] = name(outcome.breach->form);
            row["configuration"] = outcome.breach->configuration;
            row["num_elements"] = outcome.breach->num_elements;
            row["num_segments"] = outcome.breach->num_segments;
            row["reason"] = outcome.breach->text;
            row["replay"] = replay_command(report, relations, outcome);
        }
        list.push_back(std::move(row));
    }
    Json document = {{"operator", relations.op}, {"outcomes", std::move(list)}};
    if (!relations.tried_part.empty())
        document["tried_part"] = relations.tried_part;
    return document;
}

Json report_json(const RelationsReport& report)
{
    Json document = {{"backend", report.backend},
                     {"num_elements", report.num_elements},
                     {"num_devices", report.num_devices},
                     {"num_ranks", report.num_ranks}};
    document["operators"] = Json::array();
    for (const auto& relations : report.operators)
        document["operators"].push_back(report_json(report, relations));
    document["any_broken"] = report.any_broken();
    return document;
}

Json report_json(const StaticReport& report)
{
    if (!report.left_out.empty())
        return {{"left_out", report.left_out}};
    Json document = {{"compiler", report.costs.compiler}, {"num_texts", report.costs.costs.size()}};
    if (report.baseline_compiler.empty())
        return document;
    document["baseline"] = report.baseline;
    document["baseline_compiler"] = report.baseline_compiler;
    document["num_compared"] = report.verdict.num_compared;
    document["num_new"] = report.verdict.num_new;
    document["num_missing"] = report.verdict.num_missing;
    document["changes"] = Json::array();
    for (const auto& change : report.verdict.changes)
        document["changes"].push_back({{"operator", change.cost.op},
                                       {"stage", change.cost.stage},
                                       {"form", change.cost.form},
                                       {"configuration", change.cost.configuration},
                                       {"architecture", change.cost.architecture},
                                       {"what", change.what},
                                       {"then", change.then},
                                       {"now", change.now},
                                       {"is_worse", change.is_worse()}});
    document["any_worse"] = report.verdict.any_worse();
    return document;
}

Json report_json(const regress::TimeOutcome& outcome)
{
    const auto& now = outcome.now;
    Json row = {{"operator", now.op},
                {"stage", now.stage},
                {"layout", now.layout},
                {"against", now.against},
                {"configuration", now.configuration},
                {"verdict", name(outcome.verdict)}};
    if (!now.rounds.empty()) {
        row["ratio"] = outcome.median;
        row["rounds"] = now.rounds;
    }
    if (!now.reason.empty() || !outcome.reason.empty())
        row["reason"] = outcome.reason.empty() ? now.reason : outcome.reason;
    if (outcome.verdict != regress::Verdict::no_baseline)
        row["baseline_ratio"] = outcome.baseline_median;
    if (outcome.verdict != regress::Verdict::no_baseline && !now.rounds.empty()) {
        row["effect"] = outcome.effect;
        row["noise"] = outcome.noise;
        row["p"] = outcome.p;
    }
    return row;
}

Json report_json(const TimeReport& report)
{
    if (!report.left_out.empty())
        return {{"left_out", report.left_out}};
    Json document = {{"device", report.times.device},     {"driver", report.times.driver},
                     {"compiler", report.times.compiler}, {"num_elements", report.times.num_elements},
                     {"baseline", report.baseline},       {"remarks", report.remarks}};
    document["cases"] = Json::array();
    for (const auto& outcome : report.outcomes)
        document["cases"].push_back(report_json(outcome));
    if (report.selves.empty())
        return document;
    document["against_itself"] = Json::array();
    for (const auto& self : report.selves)
        document["against_itself"].push_back({{"num_cases", self.num_cases},
                                              {"num_alarms", self.num_alarms},
                                              {"num_ambiguous", self.num_ambiguous}});
    return document;
}

}  // namespace

Json json_of(const RegressReport& report)
{
    Json document = Json::object();
    if (report.relations)
        document["relations"] = report_json(*report.relations);
    if (report.static_costs)
        document["static_costs"] = report_json(*report.static_costs);
    if (report.times)
        document["times"] = report_json(*report.times);
    if (!report.saved.empty())
        document["saved"] = report.saved;
    if (!report.dropped.empty())
        document["dropped"] = report.dropped;
    if (!report.unsaved.empty())
        document["unsaved"] = report.unsaved;
    document["not_tried"] = untried(report);
    document["exit_code"] = report.exit_code();
    return document;
}

}  // namespace segfold::cli
