// segfold check: tests the laws of an operator, then compares every stage with the reference and Thrust.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "dsl/error.h"
#include "runtime/check/check_operator.h"
#include "runtime/check/operators/stage_operators.h"
#include "runtime/check/tree.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/scale_argument.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/gradients.h"
#include "runtime/cli/verbs/judge_ranks.h"
#include "runtime/cli/views/check_view.h"
#include "runtime/cli/views/fault_view.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/scale/ranks/mpi_world.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/session/core.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using regress::CheckMatrix;
using regress::CheckOutcome;
using regress::CheckRequest;

constexpr std::int64_t kMostSeeds = 1000000;
constexpr Flag kCheckFlags[] = {{"stage", "STAGE|all"},
                                {"set", "NAME=VALUE", true},
                                {"kernels", "DIR"},
                                {"seeds", "K"},
                                {"prove", "SECONDS|off"},
                                {"smt-lib", "DIR"},
                                {"tree"},
                                {"reproducible"},
                                kGradientFlag,
                                kScalarFlag};

constexpr std::int64_t kMostProofSeconds = 86400;

/// Returns the options for proofs. --prove off sets a time limit of 0 seconds.
prove::ProofOptions proof_options(const Arguments& arguments)
{
    prove::ProofOptions options;
    if (arguments.value("prove") == "off")
        options.seconds = 0;
    else if (const auto seconds = arguments.integer("prove", 0, kMostProofSeconds))
        options.seconds = static_cast<double>(*seconds);
    if (const auto folder = arguments.value("smt-lib")) {
        if (options.seconds == 0)
            throw InputError("--smt-lib: writes the questions of proofs, and --prove off asks none");
        options.smt_lib = *folder;
    }
    return options;
}

/// Returns a note about laws that hold only without NaN, and about an identity that is neutral only on finite
/// elements.
std::string nan_note(const OperatorLaws& laws)
{
    std::string names;
    for (const auto law : laws.refuted_by_nan)
        names += (names.empty() ? "" : ", ") + std::string(name(law));
    std::string note = names.empty() ? "" : "without NaN among the elements not refuted: " + names + "\n";
    if (laws.is_neutral_on_finite)
        note += "among finite elements not refuted: identity\n";
    return note;
}

/// Returns a note about the prover, or about the reason why no prover ran.
std::string prover_note(const LawReport& report)
{
    double seconds = 0;
    for (const auto& finding : report.findings)
        seconds += finding.seconds;
    if (report.prover.empty())
        return "";
    return report.prover.starts_with("nothing") ? report.prover + "\n"
                                                : fmt::format("({}, {:.2f} s)\n", report.prover, seconds);
}

/// If a law is refuted only for some values of a scalar, returns a note that --scalar checks one value.
std::string scalar_note(const LawReport& report, const CheckRequest& request)
{
    const auto& given = request.workload.scalars;
    for (const auto& finding : report.findings) {
        std::vector<std::string> open;
        if (finding.counter_example)
            for (const auto& [name, value] : finding.counter_example->scalars)
                if (!given.contains(name))
                    open.push_back(name);
        if (!open.empty())
            return fmt::format("(many values of {} were tried; --scalar {}=VALUE asks about one)\n",
                               given.empty() ? "the scalars" : fmt::format("{}", fmt::join(open, " and ")),
                               open.front());
    }
    return {};
}

/// Returns notes about laws on which stages rely although they are refuted, and about an unused identity.
std::string law_notes(const OperatorLaws& laws)
{
    std::string text;
    if (laws.spares_data)
        text += "identity: relied on, as no values of the data's range were found to show it\n";
    for (const auto law : laws.assumed)
        text += fmt::format("{0}: relied on because of --assume {0}\n", name(law));
    if (laws.without_identity)
        text += fmt::format("identity: left out by the stages; {}\n", *laws.without_identity);
    return text;
}

/// Returns the stage of --stage, or else all stages except those that exist only for measurements.
std::vector<const Stage*> asked_stages(const Arguments& arguments, const Catalogue& catalogue)
{
    const auto stage = arguments.value("stage").value_or("all");
    std::vector<const Stage*> stages;
    for (const auto& known : catalogue.stages())
        if ((stage == "all" && !known.is_rung) || stage == known.name)
            stages.push_back(&known);
    if (stages.empty())
        stages.push_back(&catalogue.stage(stage));
    return stages;
}

CheckRequest check_request(const Arguments& arguments, const Operator& op, const Backend& backend,
                           const Catalogue& catalogue, const Devices& devices)
{
    CheckRequest request;
    request.workload = workload_request(arguments, op, false);
    if (!arguments.has("values"))
        request.workload.values = suiting_values(op);
    request.stages = asked_stages(arguments, catalogue);
    regress::take_standard_data(request, op, catalogue, backend);
    if (const auto layout = arguments.value("layout"))
        request.layouts = {{*layout, request.workload.layout}};
    if (arguments.value("stage").value_or("all") == "all")
        arguments.refuse("set", "belongs to one stage; give --stage beside it");
    request.chosen = settings(arguments);
    if (!request.chosen.empty())
        check_tunables(*request.stages.front(), request.chosen);
    request.assume = assumed_laws(arguments, op);
    request.proof = proof_options(arguments);
    request.num_seeds = arguments.integer("seeds", 1, kMostSeeds).value_or(1);
    if (arguments.has("slices"))
        request.num_slices = devices.num_slices();
    return request;
}

void require_stages(const Backend& backend)
{
    if (!backend.runs_stages())
        throw InputError(
            fmt::format("--backend {}: check runs stages, which take cuda or simt; both are compared with "
                        "the reference and Thrust anyway",
                        backend.name()));
}

/// Throws InputError if --stage names a stage that can run none of the layouts.
void require_asked_stage(const Arguments& arguments, const CheckMatrix& matrix)
{
    if (arguments.value("stage").value_or("all") == "all")
        return;
    const auto serves = [](const CheckOutcome& outcome) {
        return outcome.stage != "thrust" && !outcome.unmet;
    };
    if (std::ranges::none_of(matrix.outcomes, serves))
        throw InputError(
            fmt::format("{}: {}", matrix.outcomes.front().stage, *matrix.outcomes.front().unmet));
}

std::string print_trees(const std::vector<regress::TreeRow>& rows)
{
    std::vector<TextTable::Column> columns = {{"stage"}, {"segments"}, {"tree"}};
    for (const auto cause : regress::kTreeCauses)
        columns.push_back({std::string(cause)});
    TextTable table(std::move(columns));
    std::string faults;
    for (const auto& row : rows) {
        std::vector<std::string> cells = {row.stage, std::string(name(row.form)),
                                          row.fault.empty() ? fmt::format("{}", row.tree + 1) : "fault"};
        for (const auto& changed : row.changed)
            cells.push_back(!changed ? "-" : *changed == 0 ? "same" : fmt::format("{} differ", *changed));
        table.add(std::move(cells));
        if (!row.fault.empty())
            faults += fmt::format("\n{} over {}:\n{}", row.stage, name(row.form), indented(row.fault));
    }
    return table.print() + faults +
           "\nPlans of one form and one number in 'tree' combine every watched segment in the same tree.\n";
}

Json tree_json(const regress::TreeRow& row)
{
    Json json = {{"stage", row.stage},
                 {"form", name(row.form)},
                 {"configuration", json_of(row.configuration)},
                 {"tree", row.tree + 1}};
    for (std::size_t i = 0; i < row.changed.size(); ++i)
        json["changed"][std::string(regress::kTreeCauses[i])] =
            row.changed[i] ? Json(*row.changed[i]) : Json();
    if (!row.fault.empty())
        json["fault"] = row.fault;
    return json;
}

/// Implements `check --tree`.
int compare_trees(const Arguments& arguments, const Operator& op, const Catalogue& catalogue)
{
    for (const auto flag : {"layout", "set", "elements", "features", "values", "index-bits", "sort-keys",
                            "num-groups", "seeds", "backend", "device", "schedule-seed", "slices", "devices"})
        arguments.refuse(flag, "has no meaning beside --tree, which compares segments of its own on simt");
    for (const auto flag : {"scalar", "assume", "prove", "smt-lib", "scan", "exclusive", "reverse"})
        arguments.refuse(flag, "has no meaning beside --tree, which folds a hash in the operator's place");
    Progress progress;
    const auto rows = regress::compare_trees(
        op,
        {asked_stages(arguments, catalogue), catalogue, arguments.has("reproducible"),
         static_cast<std::uint64_t>(arguments.integer("seed", 0, std::int64_t{1} << 53).value_or(7))},
        [&](const std::string& what) { progress.show(what); });
    progress.clear();
    if (arguments.json()) {
        Json list = Json::array();
        for (const auto& row : rows)
            list.push_back(tree_json(row));
        write_json("trees", {{"operator", json_of(op)}, {"trees", std::move(list)}});
    } else {
        write_output(print_trees(rows));
    }
    return std::ranges::all_of(rows, [](const auto& row) { return row.fault.empty(); }) ? 0 : 1;
}

/// The outcome of checking one operator.
struct Checked {
    std::string text;  ///< set only on rank 0, like `json` and `untried`
    Json json;
    std::vector<std::string> untried;
    bool is_well = true;
};

/// Checks one operator. If `is_of_set` is true, it belongs to the standard set, and its laws are not
/// reported.
Checked check(const Arguments& arguments, const Operator& op, AgreedRanks* ranks, bool is_of_set)
{
    const Devices devices(arguments);
    const auto first = ranks != nullptr ? device_of_rank(arguments, *ranks) : devices.first();
    Session session(backend_argument(arguments, true, first), session_options(arguments, op));
    auto& backend = core(session).backend();
    const auto& catalogue = core(session).catalogue();
    require_stages(backend);
    auto request = check_request(arguments, op, backend, catalogue, devices);
    if (is_of_set)
        request.proof.seconds = 0;
    const auto others = devices.others(backend);
    const auto pointers = pointers_to(others);
    request.others = pointers;
    request.ranks = ranks;
    if (request.is_spread())
        ranks != nullptr ? require_streams(op, LayoutKind::whole) : require_slices(op);

    std::optional<Progress> progress;
    if (prints(ranks))
        progress.emplace();
    const auto found = regress::check_operator(session, op, request, [&](const std::string& what) {
        if (progress)
            progress->show(what);
    });
    const auto& laws = found.laws;
    const auto& matrix = found.matrix;
    if (found.has_stages && !is_of_set)
        require_asked_stage(arguments, matrix);
    Checked checked;
    checked.is_well = found.is_well();
    if (!prints(ranks))
        return checked;
    progress->clear();
    const CommandOf command = [&](const CheckOutcome& outcome) {
        return command_of(arguments, backend, request, outcome);
    };
    checked.untried =
        found.has_stages ? untried(op, request, matrix, backend) : std::vector<std::string>{"stages"};
    if (arguments.json()) {
        checked.json = {{"operator", json_of(op)},
                        {"laws", json_of(laws.report, op)},
                        {"prover", laws.report.prover.empty() ? Json() : Json(laws.report.prover)},
                        {"faults", json_of_faults(arguments, op, backend, found.faults)},
                        {"without_identity", laws.without_identity ? Json(*laws.without_identity) : Json()},
                        {"backend", backend.name()},
                        {"device", backend.description()},
                        {"precision", name(precision_of_reference(op))},
                        {"thrust", json_of_thrust(matrix.thrust, matrix.without_thrust)},
                        {"num_elements", matrix.num_elements},
                        {"parts", request.is_spread() ? Json(request.spread_text()) : Json()},
                        {"smallest", smallest_of(found, command)},
                        {"checks", outcomes_of(matrix, command)},
                        {"not_tried", checked.untried},
                        {"agrees", checked.is_well}};
        return checked;
    }
    checked.text = signature(op) + "\n\n";
    if (!is_of_set)
        checked.text += print(laws.report, op) + prover_note(laws.report) +
                        scalar_note(laws.report, request) + nan_note(laws) + law_notes(laws) +
                        print_faults(arguments, op, backend, found.faults) + "\n";
    checked.text += found.has_stages ? print_checks(op, request, found, backend, command)
                                     : std::string("No stage was run, because all rely on the identity.\n");
    return checked;
}

/// Returns the operators for `check --stage` without an operator.
std::vector<Operator> operators_of_stage(const Arguments& arguments, AgreedRanks* ranks)
{
    for (const auto& flag : kOperatorFlags)
        arguments.refuse(flag.name, "is a part of an operator, and none is named");
    for (const auto& flag : {"scalar", "assume", "prove", "smt-lib", "scan", "exclusive", "reverse"})
        arguments.refuse(flag, "speaks of an operator, and none is named");
    const Kernels kernels(arguments);
    const auto& stage = kernels.catalogue().stage(*arguments.value("stage"));
    const auto first = ranks != nullptr ? device_of_rank(arguments, *ranks) : Devices(arguments).first();
    const auto backend = backend_argument(arguments, true, first);
    require_stages(*backend);
    auto ops = regress::stage_operators(stage, kernels.catalogue(), backend->target());
    if (ops.empty())
        throw InputError(
            fmt::format("--stage {}: serves none of the operators that a check without an "
                        "operator takes; name one: segfold check OP --stage {}",
                        stage.name, stage.name));
    return ops;
}

/// Implements `check` without --tree. `ranks` is null in a single process.
int check(const Arguments& arguments, AgreedRanks* ranks)
{
    if (ranks != nullptr)
        refuse_spreading_flags(arguments);
    if (names_operator(arguments) || arguments.value("stage").value_or("all") == "all") {
        const auto checked = check(arguments, operator_argument(arguments), ranks, false);
        if (prints(ranks) && arguments.json())
            write_json("check", checked.json);
        else if (prints(ranks))
            write_output(checked.text + untried_line(checked.untried));
        return checked.is_well ? 0 : 1;
    }
    std::vector<Checked> all;
    for (const auto& op : operators_of_stage(arguments, ranks)) {
        try {
            all.push_back(check(arguments, op, ranks, true));
        } catch (const InputError&) {  // the requested layout has empty segments, which this operator refuses
            if (op.takes_empty_segments() || all.empty() || !arguments.has("layout"))
                throw;
        }
    }
    const bool is_well = std::ranges::all_of(all, &Checked::is_well);
    if (!prints(ranks))
        return is_well ? 0 : 1;
    auto left = all.front().untried;  // after the loop: tests that were made for no operator
    Json documents = Json::array();
    std::string text;
    for (auto& checked : all) {
        std::erase_if(left, [&](const std::string& what) {
            return std::ranges::find(checked.untried, what) == checked.untried.end();
        });
        documents.push_back(document("check", std::move(checked.json)));
        text += checked.text + "\n";
    }
    if (arguments.json())
        write_json("checks", {{"checks", std::move(documents)}, {"not_tried", left}, {"agrees", is_well}});
    else
        write_output(text + untried_line(left));
    return is_well ? 0 : 1;
}

}  // namespace

int verb_check(const Words& words)
{
    const auto parse = [&] {
        return Arguments("check", words,
                         join({kOperatorFlags, kScannedFlags, kDataFlags, kBackendFlags, kLawFlags,
                               kScaleFlags, kCheckFlags}),
                         1);
    };
    if (const auto ranks = mpi_world())
        return judge_by_ranks(words, *ranks, [&](AgreedRanks& all) {
            const auto arguments = parse();
            arguments.refuse("tree", "compares plans of one process; run it without MPI");
            arguments.refuse("reproducible", "says which plans --tree looks at");
            arguments.refuse("gradient", "compares a gradient in one process; run it without MPI");
            return check(arguments, &all);
        });
    const auto arguments = parse();
    if (arguments.has("gradient"))
        return check_gradient(arguments);
    if (arguments.has("tree"))
        return compare_trees(arguments, operator_argument(arguments), Kernels(arguments).catalogue());
    arguments.refuse("reproducible", "says which plans --tree looks at");
    return check(arguments, nullptr);
}

}  // namespace segfold::cli
