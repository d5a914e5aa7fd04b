// segfold regress: compares segmented with unsegmented folds, and this build with a baseline.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/scale_argument.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/regress/parts.h"
#include "runtime/cli/regress/view.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/judge_ranks.h"
#include "runtime/scale/ranks/mpi_world.h"
#include "runtime/support/files/file.h"

namespace segfold::cli {
namespace {

constexpr Flag kRegressFlags[] = {
    {"relations"},        {"static"},        {"time"},      {"stage", "STAGE|all"}, {"relation", "NAME"},
    {"tiles", "TILES"},   {"elements", "N"}, {"seed", "S"}, {"repeat", "K"},        {"layout", "LAYOUT"},
    {"baseline", "FILE"}, {"save", "FILE"},  {"self", "K"}, {"kernels", "DIR"},     {"devices", "all|N,N"},
    kScalarFlag};

/// Number of back ends used as devices if there are not several devices; see relation_devices().
constexpr std::size_t kStandIns = 3;

/// Default operators for relations. Three are exact and non-commutative; one of these has no identity. One is
/// commutative, one rounds, and one has a finish.
constexpr std::string_view kRelationOperators[] = {"trace_i32", "affine_u32", "keep_first_i32",
                                                   "sum_i32",   "sum_f32",    "mean_variance_f32"};
/// Default operators for static costs: the smallest one, a non-commutative one, and one with a large state.
constexpr std::string_view kStaticOperators[] = {"sum_f32", "affine_u32", "mean_variance_f32"};
/// Default operators for times. Both are bound by memory; the second one is not commutative.
constexpr std::string_view kTimeOperators[] = {"sum_f32", "affine_f32"};

/// The parts of the verb that run.
struct Parts {
    bool relations, static_costs, times;
};

/// True if --backend selects the stages for the host's cores.
bool is_native(const Arguments& arguments) { return arguments.value("backend") == "cpu"; }

Parts parts(const Arguments& arguments)
{
    Parts asked{arguments.has("relations") || arguments.has("relation"), arguments.has("static"),
                arguments.has("time") || arguments.has("self")};
    if (!asked.relations && !asked.static_costs && !asked.times)
        return {true, !is_native(arguments), true};
    return asked;
}

/// Throws InputError for a flag that has no effect on the requested parts, or that has different meanings for
/// two of them.
void refuse_idle_flags(const Arguments& arguments, Parts asked)
{
    if (asked.relations && asked.times)
        arguments.refuse("elements",
                         "means another number to relations than to times; give --relations or "
                         "--time beside it");
    if (!asked.relations)
        for (const auto flag : {"tiles", "repeat", "schedule-seed", "devices"})
            arguments.refuse(flag, "speaks of relations, and none are tried");
    if (!asked.times)
        arguments.refuse("layout",
                         "speaks of times, and none are measured; relations make lengths of their own");
    if (!asked.relations && !asked.times)
        for (const auto flag : {"elements", "seed", "device", "backend"})
            arguments.refuse(flag, "speaks of runs, and nothing is run");
    if (is_native(arguments))
        for (const auto flag : {"static", "kernels"})
            arguments.refuse(flag, "is about CUDA, and the back end is cpu");
    if (!asked.static_costs && !asked.times)
        for (const auto flag : {"baseline", "save"})
            arguments.refuse(flag, "speaks of costs and times, and neither is looked at");
}

/// Throws InputError if --stage names a stage that can run none of the operators.
void require_asked_stage(const Arguments& arguments, const RelationsReport& report)
{
    if (arguments.value("stage").value_or("all") == "all")
        return;
    std::string reason;
    for (const auto& relations : report.operators)
        for (const auto& outcome : relations.outcomes) {
            if (outcome.objection.empty())
                return;
            reason = outcome.stage + ": " + outcome.objection;
        }
    throw InputError(reason);
}

/// Returns the baseline in the file of --save; an empty one if the file does not exist.
regress::Baseline saved_before(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored)
               ? naming_purpose("for --save", [&] { return regress::read_baseline(path); })
               : regress::Baseline();
}

/// Writes the measurements to the file of --save. Keeps the file's entries for other devices, operators,
/// stages and layouts. Writes nothing if there are no measurements.
void save(const Arguments& arguments, const std::string& path, std::span<const NamedOperator> static_ops,
          std::span<const NamedOperator> time_ops, RegressReport& report)
{
    const bool has_costs = report.static_costs && report.static_costs->left_out.empty();
    const bool is_timed = report.times && report.times->left_out.empty();
    // A case without rounds has no time to save; its time exceeded the cut-off.
    const bool has_times = is_timed && std::ranges::any_of(report.times->times.cases, [](const auto& one) {
                               return !one.rounds.empty();
                           });
    if (is_timed && !has_times) {
        const auto* why =
            report.times->any_measured() ? "all times are over the cut-off" : "no time was measured";
        report.unsaved = has_costs ? fmt::format("times are not saved: {}", why)
                                   : fmt::format("nothing is saved to {}: {}", path, why);
    } else if (!has_costs && !has_times) {
        report.unsaved = fmt::format("nothing is saved to {}: nothing was compiled or measured", path);
    }
    if (!has_costs && !has_times)
        return;
    auto baseline = saved_before(path);
    const auto stage = arguments.value("stage").value_or("all");
    const auto is_other = [&](const auto& one, std::span<const NamedOperator> ops) {
        return std::ranges::find(ops, one.op, &NamedOperator::name) == ops.end() ||
               (stage != "all" && one.stage != stage);
    };
    std::size_t lost_costs = 0, lost_times = 0;
    if (has_costs)
        lost_costs = baseline.replace(report.static_costs->costs,
                                      [&](const auto& one) { return is_other(one, static_ops); });
    if (has_times) {
        const auto& cases = report.times->times.cases;
        lost_times = baseline.replace(report.times->times, [&](const auto& one) {
            return is_other(one, time_ops) ||
                   (arguments.has("layout") &&
                    std::ranges::find(cases, one.layout, &regress::TimeCase::layout) == cases.end());
        });
    }
    if (lost_costs + lost_times != 0)
        report.dropped = fmt::format("{} cases that {} had beside these are dropped: they are of another {}",
                                     lost_costs + lost_times, path,
                                     lost_times != 0 ? "driver, compiler or number of elements" : "compiler");
    regress::write_baseline(path, baseline);
    report.saved = path;
}

std::unique_ptr<Backend> relation_backend(const Arguments& arguments, std::optional<int> device)
{
    auto backend = backend_argument(arguments, true, device);
    if (!backend->runs_stages())
        throw InputError(
            fmt::format("--backend {}: regress runs stages, which take cuda or simt; both are compared with "
                        "the reference and Thrust anyway",
                        backend->name()));
    return backend;
}

/// Makes the back ends on which relations are tried. Makes only one if no relation compares devices.
///
/// With --devices, makes one for each named device. With neither --devices nor --device, makes one for each
/// GPU if there are several. Otherwise makes kStandIns back ends of the same kind on one device.
std::vector<std::unique_ptr<Backend>> relation_devices(const Arguments& arguments)
{
    const Devices asked(arguments);
    std::vector<std::unique_ptr<Backend>> all;
    all.push_back(relation_backend(arguments, asked.first()));
    if (!needs_devices(arguments))
        return all;
    for (auto& other : asked.others(*all.front()))
        all.push_back(std::move(other));
    if (arguments.has("devices"))
        return all;
    const auto& first = *all.front();
    BackendOptions like;
    const auto gpus =
        first.device() && !arguments.has("device") ? cuda::devices() : std::vector<cuda::DeviceInfo>();
    for (std::size_t i = 1; i < (gpus.size() > 1 ? gpus.size() : kStandIns); ++i) {
        if (first.device())
            like.device = gpus.size() > 1 ? gpus[i].ordinal : first.device()->ordinal;
        all.push_back(make_backend(first.name(), like));
    }
    return all;
}

/// Tries the relation "ranks" in several processes that MPI started together.
int relations_by_ranks(const Arguments& arguments, AgreedRanks& ranks)
{
    for (const auto flag : {"static", "time", "self", "baseline", "save"})
        arguments.refuse(flag, "is about one process; run it without MPI");
    if (const auto relation = arguments.value("relation"); relation && relation != "ranks")
        throw InputError(
            fmt::format("--relation {}: is tried by one process; ranks of MPI try 'ranks'", *relation));
    refuse_spreading_flags(arguments);
    refuse_idle_flags(arguments, {true, false, false});
    const Kernels kernels(arguments);
    const auto& catalogue = is_native(arguments) ? Catalogue::native() : kernels.catalogue();
    (void)regress_stages(arguments, catalogue);
    const auto backend = relation_backend(arguments, device_of_rank(arguments, ranks));
    auto ops = by_words(asked_operators(arguments, kRelationOperators));
    for (auto& op : ops) {
        // All ranks use the verdicts of rank 0, because searches and stored proofs may differ between hosts.
        const auto first = ranks.of_first(std::as_bytes(std::span(&op.laws, 1)));
        std::memcpy(&op.laws, first.data(), sizeof op.laws);
    }
    std::optional<Progress> progress;
    if (prints(&ranks))
        progress.emplace();
    RegressReport report;
    report.relations =
        hold_relations(arguments, ops, catalogue, *backend, {}, &ranks, progress ? &*progress : nullptr);
    require_asked_stage(arguments, *report.relations);
    if (prints(&ranks)) {
        progress->clear();
        if (arguments.json())
            write_json("regress", json_of(report));
        else
            write_output(print(report));
    }
    return report.exit_code();
}

}  // namespace

int verb_regress(const Words& words)
{
    const auto parse = [&] {
        return Arguments("regress", words,
                         join({kOperatorFlags, kScannedFlags, kBackendFlags, kRegressFlags}), 1);
    };
    if (const auto ranks = mpi_world())
        return judge_by_ranks(words, *ranks,
                              [&](AgreedRanks& all) { return relations_by_ranks(parse(), all); });
    const auto arguments = parse();
    const auto asked = parts(arguments);
    refuse_idle_flags(arguments, asked);
    const Kernels kernels(arguments);
    const auto& catalogue = is_native(arguments) ? Catalogue::native() : kernels.catalogue();
    (void)regress_stages(arguments, catalogue);
    std::optional<regress::Baseline> baseline;
    if (const auto path = arguments.value("baseline"))
        baseline = naming_purpose("for --baseline", [&] { return regress::read_baseline(*path); });
    if (const auto path = arguments.value("save")) {  // throws for a bad file before anything is measured
        require_writable(*path);
        (void)saved_before(*path);
    }
    std::vector<NamedOperator> static_ops, time_ops;
    if (asked.static_costs)
        static_ops = by_own_names(arguments, asked_operators(arguments, kStaticOperators), baseline);
    if (asked.times)
        time_ops = by_own_names(arguments, asked_operators(arguments, kTimeOperators), baseline);
    if (baseline && asked.static_costs)
        require_static_cases(arguments, static_ops, *baseline);
    if (baseline && asked.times && why_no_times(arguments).empty())
        require_time_cases(arguments, time_ops, *baseline);
    Progress progress;
    RegressReport report;
    if (asked.relations) {
        const auto devices = relation_devices(arguments);
        const auto pointers = pointers_to(devices);
        report.relations =
            hold_relations(arguments, by_words(asked_operators(arguments, kRelationOperators)), catalogue,
                           *devices.front(), std::span(pointers).subspan(1), nullptr, &progress);
    }
    const auto* then = baseline ? &*baseline : nullptr;
    if (asked.static_costs)
        report.static_costs = hold_static_costs(arguments, static_ops, catalogue, then, progress);
    if (asked.times)
        report.times = hold_times(arguments, time_ops, catalogue, then, progress);
    progress.clear();
    if (report.relations)
        require_asked_stage(arguments, *report.relations);
    if (const auto path = arguments.value("save"))
        save(arguments, *path, static_ops, time_ops, report);
    if (arguments.json())
        write_json("regress", json_of(report));
    else
        write_output(print(report));
    return report.exit_code();
}

}  // namespace segfold::cli
