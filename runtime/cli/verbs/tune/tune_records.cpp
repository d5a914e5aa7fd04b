#include "runtime/cli/verbs/tune/tune_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/measure/tune/kept_tuning.h"
#include "runtime/session/choice/record_store.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"spot", "tuned", "all"};

/// Returns the name of the requested operator; empty if none is named.
std::string asked_operator(const Arguments& arguments)
{
    return arguments.operands().empty() && !arguments.has("op") ? "" : operator_argument(arguments).name;
}

/// True if a run may use the plan of this record. Other records only show plans that lost the comparison.
bool may_choose(const TuningRecord& record)
{
    return record.measurement.outcome == MeasurementOutcome::correct &&
           (record.phase == TuningPhase::spot || record.phase >= TuningPhase::chosen);
}

Json json_of_record(const TuningRecord& record)
{
    return {{"phase", name(record.phase)},
            {"operator", record.op},
            {"device", record.device.name},
            {"form", record.problem.form},
            {"num_elements", record.shape.num_elements},
            {"num_segments", record.shape.num_segments},
            {"stage", record.point.stage},
            {"configuration", json_of(record.point.configuration)},
            {"milliseconds", record.measurement.milliseconds},
            {"date", record.date}};
}

int show(const Arguments& arguments, const std::string& folder, const std::string& op)
{
    const auto store = RecordStore::open(folder, true);
    std::vector<TuningRecord> rows;
    std::int64_t num_others = 0;
    for (const auto* some : {&store.rows(), &store.spot_rows()})
        for (const auto& row : *some) {
            if (!op.empty() && row.op != op)
                continue;
            if (may_choose(row))
                rows.push_back(row);
            else
                ++num_others;
        }
    if (arguments.json()) {
        Json document = {{"folder", folder},
                         {"records", Json::array()},
                         {"others", num_others},
                         {"complaints", store.complaints()}};
        for (const auto& row : rows)
            document["records"].push_back(json_of_record(row));
        write_json("tune_show", std::move(document));
        return 0;
    }
    for (const auto& complaint : store.complaints())
        write_error("warning: " + complaint);
    TextTable table({{"phase"},
                     {"operator"},
                     {"segments by"},
                     {"elements", TextTable::Align::right},
                     {"segments", TextTable::Align::right},
                     {"plan"},
                     {"ms", TextTable::Align::right},
                     {"date"}});
    for (const auto& row : rows)
        table.add({std::string(name(row.phase)), row.op, row.problem.form,
                   std::to_string(row.shape.num_elements), std::to_string(row.shape.num_segments),
                   print(row.point), fmt::format("{:.4g}", row.measurement.milliseconds), row.date});
    write_output((table.empty() ? "" : table.print() + "\n") +
                 print_facts({{"records", fmt::format("{} in {}; {} of plans beside them",
                                                      count_text(std::ssize(rows), "plan"), folder,
                                                      count_text(num_others, "measurement"))}}));
    return 0;
}

int forget(const Arguments& arguments, const std::string& folder, const std::string& op)
{
    const auto kind = arguments.choice("forget", kKinds).value_or(0);
    const auto removed = forget_records(folder, [&](const TuningRecord& record) {
        const bool is_spot = record.phase == TuningPhase::spot;
        return (op.empty() || record.op == op) &&
               (kKinds[kind] == "all" || is_spot == (kKinds[kind] == "spot"));
    });
    if (arguments.json())
        write_json("tune_forget", {{"folder", folder}, {"removed", removed}});
    else
        write_output(fmt::format("removed {} from {}\n",
                                 count_text(static_cast<std::int64_t>(removed), "record"), folder));
    return 0;
}

}  // namespace

bool asks_about_records(const Arguments& arguments)
{
    return arguments.has("show") || arguments.has("forget");
}

int tune_records(const Arguments& arguments)
{
    if (arguments.has("forget"))
        arguments.refuse("show", "lists records, and --forget removes them; one at a time");
    const auto folder = tune::require_record_folder();
    const auto op = asked_operator(arguments);
    return arguments.has("show") ? show(arguments, folder, op) : forget(arguments, folder, op);
}

}  // namespace segfold::cli
