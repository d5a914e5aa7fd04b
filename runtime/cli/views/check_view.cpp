#include "runtime/cli/views/check_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/cli/views/terminal.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/judge/reference.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using regress::CheckMatrix;
using regress::CheckOutcome;
using regress::CheckRequest;

constexpr std::size_t kShownFailures = 3;

/// Summarises a stage on a layout over all seeds: "ok", "wrong", "fault" or "-".
std::string cell(const CheckMatrix& matrix, const std::string& stage, const std::string& layout)
{
    std::string text = "-";
    for (const auto& outcome : matrix.outcomes) {
        if (outcome.stage != stage || outcome.layout != layout || outcome.unmet)
            continue;
        if (outcome.failed())
            return outcome.fault ? "fault" : "wrong";
        text = "ok";
    }
    return text;
}

std::string print_matrix(const CheckRequest& request, const CheckMatrix& matrix)
{
    std::vector<TextTable::Column> columns = {{"stage"}};
    for (const auto& layout : request.layouts)
        columns.push_back({layout.name});
    TextTable table(std::move(columns));
    std::vector<std::string> names;
    for (const auto* stage : request.stages)
        names.push_back(stage->name);
    if (matrix.without_thrust.empty())
        names.emplace_back("thrust");
    for (const auto& name : names) {
        std::vector<std::string> row = {name};
        for (const auto& layout : request.layouts)
            row.push_back(cell(matrix, name, layout.name));
        table.add(std::move(row));
    }
    return table.print();
}

/// Lists the reasons why stages could not run. Leaves out unsupported forms, which the table already shows.
std::string print_unmet(const CheckMatrix& matrix)
{
    std::map<std::string, std::vector<std::string>> stages_by_reason;
    for (const auto& outcome : matrix.outcomes) {
        if (!outcome.unmet || outcome.unmet->starts_with("takes segments"))
            continue;
        auto& stages = stages_by_reason[*outcome.unmet];
        if (std::ranges::find(stages, outcome.stage) == stages.end())
            stages.push_back(outcome.stage);
    }
    std::string text;
    const auto takes_other_forms = [](const CheckOutcome& outcome) {
        return outcome.unmet && outcome.unmet->starts_with("takes segments");
    };
    if (std::ranges::any_of(matrix.outcomes, takes_other_forms))
        text = "\n-: the stage takes no segments that are given so; 'segfold stages' says which it takes\n";
    for (const auto& [reason, stages] : stages_by_reason)
        text += fmt::format("\n{}: {}\n", fmt::join(stages, ", "), reason);
    return text;
}

/// Returns the number of runs with unjudged results, and describes the first one. Empty if there are none.
std::string print_unjudged(const CheckMatrix& matrix)
{
    std::int64_t count = 0;
    std::string first;
    for (const auto& outcome : matrix.outcomes) {
        const auto unjudged = std::ranges::find_if(
            outcome.comparisons, [](const auto& comparison) { return comparison.num_unjudged != 0; });
        if (!outcome.failed() && unjudged != outcome.comparisons.end() && count++ == 0)
            first = fmt::format("{} over {}, seed {}, against {}: {}", outcome.stage, outcome.layout,
                                outcome.seed, unjudged->against, segfold::print_unjudged(*unjudged));
    }
    return count == 0 ? ""
                      : fmt::format("\nin {} not all results can be judged, the first: {}\n",
                                    count_text(count, "run"), first);
}

/// Returns a text such as "16864 elements" or, if stages differ, "16864 to 24800 elements by stage". Ignores
/// layouts with few elements.
std::string elements_text(const CheckRequest& request, const CheckMatrix& matrix)
{
    const auto is_few = [&](const CheckOutcome& outcome) {
        const auto layout = std::ranges::find(request.layouts, outcome.layout, &regress::CheckLayout::name);
        return layout != request.layouts.end() && layout->is_few;
    };
    auto least = matrix.num_elements;
    for (const auto& outcome : matrix.outcomes)
        if (!outcome.unmet && !is_few(outcome))
            least = std::min(least, outcome.num_elements);
    const auto most = count_text(matrix.num_elements, "element");
    return least == matrix.num_elements ? most : fmt::format("{} to {} by stage", least, most);
}

/// Returns a sentence such as "All 17 runs agree.", or the number of runs that disagree.
std::string print_summary(const CheckMatrix& matrix)
{
    std::int64_t num_runs = 0, num_failed = 0;
    for (const auto& outcome : matrix.outcomes) {
        num_runs += !outcome.unmet;
        num_failed += outcome.failed();
    }
    const auto against = matrix.without_thrust.empty() ? "the reference and with Thrust" : "the reference";
    if (num_runs == 0)
        return "\nno stage could serve\n";
    if (num_failed == 0)
        return fmt::format("\n{} with {}\n",
                           num_runs == 1 ? "the run agrees" : fmt::format("all {} runs agree", num_runs),
                           against);
    return fmt::format("\n{} of {} failed\n", num_failed, count_text(num_runs, "run"));
}

/// Returns ", by a text for compute capability 7.5" if the source is for older devices; otherwise "".
std::string capability_text(const CheckOutcome& outcome)
{
    if (!outcome.compute_capability)
        return "";
    return fmt::format(", by a text for compute capability {}.{}", *outcome.compute_capability / 10,
                       *outcome.compute_capability % 10);
}

/// Describes a failure, such as "warp_stream over whole, seed 7", and shows the command that repeats it.
std::string print_failure(const CheckOutcome& outcome, const std::string& command)
{
    const auto with =
        outcome.configuration.empty() ? "" : fmt::format(", {}", segfold::print(outcome.configuration));
    auto text = fmt::format("\n{} over {}, seed {}{}{}:\n", outcome.stage, outcome.layout, outcome.seed, with,
                            capability_text(outcome));
    if (outcome.fault)
        text += indented(*outcome.fault);
    for (const auto& comparison : outcome.comparisons)
        if (!comparison.agrees())
            text += indented("against " + comparison.against + ": " + print(comparison));
    return command.empty() ? text : text + indented("again: " + command);
}

std::string print_failures(const CheckMatrix& matrix, const CommandOf& command_of)
{
    std::string text;
    std::size_t count = 0;
    for (const auto& outcome : matrix.outcomes)
        if (outcome.failed() && ++count <= kShownFailures)
            text += print_failure(outcome, command_of(outcome));
    return text;
}

/// Describes the smallest input on which a fold in slices still fails.
std::string print_smallest(const regress::Check& check, const CommandOf& command_of)
{
    if (!check.smallest || !check.smallest->is_smaller)
        return "";
    const auto& outcome = check.smallest->outcome;
    return fmt::format("\nThe first of them, by {}:\n", count_text(outcome.num_elements, "element")) +
           print_failure(outcome, command_of(outcome));
}

Json json_of_outcome(const CheckOutcome& outcome, const CommandOf& command_of)
{
    Json row = {{"stage", outcome.stage},
                {"layout", outcome.layout},
                {"seed", outcome.seed},
                {"num_elements", outcome.num_elements}};
    row["outcome"] = outcome.unmet      ? "cannot_serve"
                     : outcome.fault    ? "fault"
                     : outcome.failed() ? "wrong"
                                        : "ok";
    if (!outcome.configuration.empty())
        row["configuration"] = outcome.configuration;
    if (outcome.compute_capability)
        row["compute_capability"] = *outcome.compute_capability;
    if (outcome.unmet)
        row["reason"] = *outcome.unmet;
    if (outcome.fault)
        row["reason"] = *outcome.fault;
    row["comparisons"] = Json::array();
    for (const auto& comparison : outcome.comparisons)
        row["comparisons"].push_back(json_of(comparison));
    if (const auto command = outcome.failed() ? command_of(outcome) : ""; !command.empty())
        row["replay"] = command;
    return row;
}

}  // namespace

std::string print_checks(const Operator& op, const CheckRequest& request, const regress::Check& check,
                         const Backend& backend, const CommandOf& command_of)
{
    const auto& matrix = check.matrix;
    const auto first = request.workload.seed;
    const auto last = first + static_cast<std::uint64_t>(request.num_seeds) - 1;
    const auto seeds =
        first == last ? fmt::format("seed {}", first) : fmt::format("seeds {} to {}", first, last);
    std::vector<std::pair<std::string, std::string>> facts = {
        {"data",
         fmt::format("{}, {}, {}", elements_text(request, matrix), name(request.workload.values), seeds)},
        {"back end", fmt::format("{}: {}", backend.name(), backend.description())}};
    if (request.is_spread())
        facts.emplace_back("parts", request.spread_text() + ", joined in order");
    if (const auto precision = precision_of_reference(op); precision == Precision::wide)
        facts.emplace_back("judged", "by a reference in " + text_of(precision));
    facts.emplace_back(
        "thrust", matrix.without_thrust.empty() ? matrix.thrust : "has no say: " + matrix.without_thrust);
    return print_facts(facts) + "\n" + print_matrix(request, matrix) + print_unmet(matrix) +
           print_failures(matrix, command_of) + print_smallest(check, command_of) + print_unjudged(matrix) +
           print_summary(matrix);
}

std::vector<std::string> untried(const Operator& op, const CheckRequest& request, const CheckMatrix& matrix,
                                 const Backend& backend)
{
    std::vector<std::string> untried;
    const auto add = [&](bool is_left, std::string_view what) {
        if (is_left)
            untried.emplace_back(what);
    };
    std::set<std::string> serving, idle;
    for (const auto& outcome : matrix.outcomes)
        (outcome.unmet ? idle : serving).insert(outcome.stage);
    std::erase_if(idle, [&](const auto& stage) { return serving.contains(stage); });
    add(!idle.empty(), count_text(std::ssize(idle), "stage") + " that cannot serve");
    add(true, request.chosen.empty()
                  ? "tunables but for those of a run, the smallest and the next to them, by turns"
                  : "other tunables");
    add(request.layouts.size() == 1, "other layouts");
    add(op.laws.commutative, "the order of operands, as the operator commutes");
    const auto reads_place = [&](std::string_view place) { return uses_name(op.lift, place); };
    add(std::ranges::none_of(std::array{"index", "position", "segment"}, reads_place),
        "places of elements, which the operator does not read");
    add(op.state.size() == 1, "states of several fields");
    add(op.has_identity(), "operators without identity");
    add(!op.takes_empty_segments(), "empty segments, which the operator refuses");
    add(request.workload.index_bits.value_or(32) == 32, "64-bit indices");
    add(std::ranges::any_of(op.parameters, [](const auto& parameter) { return is_float(parameter.type); }),
        "infinities and NaN");
    add(!request.is_spread(), "slices");
    add(!backend.device(), "a GPU");
    return untried;
}

std::string untried_line(const std::vector<std::string>& untried)
{
    return fmt::format("not tried: {}\n", fmt::join(untried, "; "));
}

Json outcomes_of(const CheckMatrix& matrix, const CommandOf& command_of)
{
    Json list = Json::array();
    for (const auto& outcome : matrix.outcomes)
        list.push_back(json_of_outcome(outcome, command_of));
    return list;
}

Json smallest_of(const regress::Check& check, const CommandOf& command_of)
{
    if (!check.smallest)
        return {};
    const auto& outcome = check.smallest->outcome;
    return {{"num_elements", outcome.num_elements}, {"check", json_of_outcome(outcome, command_of)}};
}

}  // namespace segfold::cli
