#include "runtime/papers/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/data/shape.h"
#include "runtime/judge/reference.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/measure/bench/loaded_probe.h"
#include "runtime/measure/bench/peers/peers.h"
#include "runtime/measure/bench/workloads/cases.h"
#include "runtime/measure/bench/workloads/sweep.h"
#include "runtime/session/choice/choice.h"

namespace segfold::papers {
namespace {

constexpr double kNeverHopeless = 1e9;  ///< so large that no rung is abandoned as too slow
constexpr int kMostHostRepeats = 11;
/// The largest input, in elements, that the reference folds within a few seconds.
constexpr std::int64_t kMostChecked = std::int64_t{1} << 24;

bool is_equal(const Results& left, const Results& right)
{
    for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i].array.bytes() != right[i].array.bytes() ||
            std::memcmp(left[i].array.data(), right[i].array.data(), left[i].array.bytes()) != 0)
            return false;
    return left.size() == right.size();
}

/// Compares the native fold of one thread with the reference. Both fold in the same order, so they must agree
/// bit for bit.
bench::Agreement check_host(const bench::CaseData::Prepared& prepared, const Results& results)
{
    const auto& segments = prepared.workload.segments;
    if (segments.num_elements > kMostChecked)
        return {};
    Workload workload;
    workload.op = prepared.workload.op;
    workload.segments = segments.copy();
    for (std::size_t i = 0; i < prepared.columns.size(); ++i) {
        Array array(workload.op.parameters[i].type, static_cast<std::size_t>(segments.num_elements));
        std::memcpy(array.data(), prepared.columns[i], array.bytes());
        workload.arrays.push_back(std::move(array));
    }
    const bool agrees = is_equal(results, reduce_sequentially(workload));
    return {true, agrees, agrees ? "reference" : "the CPU's results differ from the reference's"};
}

/// Measures the fold on one host thread. If there is no compiler, the returned entry says so.
bench::Entry measure_host(const PaperRow& row, const bench::CaseData::Prepared& prepared,
                          const Traffic& traffic, int repeats)
{
    bench::Entry entry;
    entry.name = row.row;
    entry.is_host = true;
    try {
        const auto& workload = prepared.workload;
        const auto fold = cpu::fold_sequentially(workload.op, workload.segments, prepared.columns,
                                                 std::min(repeats, kMostHostRepeats));
        entry.agreement = check_host(prepared, fold.results);
        auto milliseconds = fold.seconds;
        for (auto& time : milliseconds)
            time *= 1e3;
        entry.milliseconds = quartiles(milliseconds);
        entry.runs = static_cast<int>(milliseconds.size());
        entry.bytes_per_second = static_cast<double>(traffic.total()) / (entry.milliseconds.median * 1e-3);
    } catch (const DeviceError& error) {
        entry.outcome = bench::Outcome::failed;
        entry.reason = error.what();
    }
    return entry;
}

/// Data shared by the rows of one experiment.
struct Climb {
    bench::Bench& bench;
    const Experiment& experiment;
    const Catalogue& catalogue;
    bench::LadderOptions options;
    const Show& show;
    bench::CaseData data;
};

/// Measures the rows on one workload. Returns entries with the names and in the order of the rows.
bench::WorkloadRecord climb_rows(Climb& climb, std::span<const PaperRow> rows, std::int64_t num_elements)
{
    const auto& experiment = climb.experiment;
    auto prepared = climb.data.prepare({experiment.layout, num_elements});
    auto problem = make_problem(prepared.workload, quick_laws(prepared.workload.op));
    problem.target = climb.bench.backend.target();
    const auto facts = plan_facts(problem, shape_of(prepared.workload));
    std::vector<bench::LadderPlan> plans;
    for (const auto& row : rows) {
        if (row.is_host)
            continue;
        const auto& stage = climb.catalogue.stage(row.stage);
        plans.push_back({&stage, configure(stage, row.chosen, facts), false,
                         climb.catalogue.unmet(stage, problem).value_or(""), false, row.row});
    }
    const auto show = [&](const std::string& what) { climb.show(experiment.figure + ": " + what); };
    auto record = bench::climb(climb.bench,
                               {problem,
                                prepared.workload,
                                prepared.inputs,
                                print(experiment.layout),
                                plans,
                                {},
                                climb.catalogue,
                                climb.options,
                                prepared.columns},
                               {show, {}});
    std::vector<bench::Entry> entries;
    for (const auto& row : rows) {
        if (row.is_host) {
            show(row.row);
            entries.push_back(measure_host(row, prepared, record.traffic, climb.options.repeats));
            continue;
        }
        auto entry = std::ranges::find(record.entries, row.stage + ":" + row.row, &bench::Entry::name);
        if (entry == record.entries.end())
            throw InternalError(fmt::format("{}: nothing was measured of {}", experiment.figure, row.row));
        entry->name = row.row;
        entries.push_back(*entry);
    }
    record.entries = std::move(entries);
    return record;
}

/// Measures rows that each have their own number of elements. Returns the record of the first row, with all
/// entries.
bench::WorkloadRecord climb_sizes(Climb& climb)
{
    std::optional<bench::WorkloadRecord> all;
    for (const auto& row : climb.experiment.rows) {
        auto record = climb_rows(climb, {&row, 1}, row.num_elements.value_or(climb.experiment.num_elements));
        if (all)
            all->entries.push_back(std::move(record.entries.front()));
        else
            all = std::move(record);
    }
    return std::move(*all);
}

/// Runs `work`. If it fails, returns an entry with the error. Throws if the GPU refuses further work after
/// the failure.
template <class Work>
bench::Entry attempt(const bench::Bench& bench, const PaperRow& row, Work work)
{
    try {
        return work();
    } catch (const DeviceError& error) {
        bench.timing->synchronize();
        bench::Entry entry;
        entry.name = row.row;
        entry.outcome = bench::Outcome::failed;
        entry.reason = error.what();
        return entry;
    }
}

bench::WorkloadRecord run_probes(bench::Bench& bench, const Experiment& experiment, int repeats,
                                 const Catalogue& catalogue, const Show& show)
{
    bench::WorkloadRecord record;
    record.num_elements = experiment.num_elements;
    bench::Probes probes(bench, catalogue);
    for (const auto& row : experiment.rows) {
        show(experiment.figure + ": " + row.row);
        const auto& probe = catalogue.probe(row.stage);
        record.entries.push_back(attempt(bench, row, [&] {
            return probes.measure(
                {row.row, probe, configure(probe, row.chosen), experiment.num_elements, repeats});
        }));
    }
    return record;
}

bench::WorkloadRecord run_transfers(Climb& climb)
{
    const auto& experiment = climb.experiment;
    climb.show(experiment.figure + ": values on the host");
    const auto prepared = climb.data.prepare({experiment.layout, experiment.num_elements});
    const auto& workload = prepared.workload;
    auto problem = make_problem(workload, quick_laws(workload.op));
    problem.target = climb.bench.backend.target();
    bench::WorkloadRecord record;
    record.op = workload.op.name;
    record.layout = print(experiment.layout);
    record.num_elements = experiment.num_elements;
    record.num_segments = workload.segments.num_segments;
    record.traffic = compulsory_traffic(workload.op, workload.segments, workload.num_features);
    bench::Transfers transfers(climb.bench, problem,
                               {prepared.columns.front(), static_cast<std::size_t>(record.traffic.columns)},
                               climb.catalogue);
    for (const auto& row : experiment.rows) {
        climb.show(experiment.figure + ": " + row.row);
        bench::TransferFold fold;
        if (!row.stage.empty())
            fold = {&climb.catalogue.stage(row.stage), row.chosen};
        record.entries.push_back(attempt(climb.bench, row, [&] {
            return transfers.measure(row.row, row.transfer, fold, climb.options.repeats);
        }));
    }
    return record;
}

bench::WorkloadRecord run(Climb& climb)
{
    switch (climb.experiment.kind) {
        case ExperimentKind::timer: return climb_sizes(climb);
        case ExperimentKind::transfer: return run_transfers(climb);
        default: return climb_rows(climb, climb.experiment.rows, climb.experiment.num_elements);
    }
}

/// Returns the entry under the name of a row. Puts the entry's own name before its configuration.
bench::Entry renamed(bench::Entry entry, const std::string& row)
{
    entry.configuration = entry.name + (entry.configuration.empty() ? "" : " " + entry.configuration);
    entry.name = row;
    return entry;
}

}  // namespace

MeasuredExperiment measure(bench::Bench& bench, const Experiment& experiment, int repeats,
                           const Catalogue& catalogue, const Show& show)
{
    if (experiment.kind == ExperimentKind::probe)
        return {experiment.figure, run_probes(bench, experiment, repeats, catalogue, show)};
    bench::LadderOptions options;
    options.repeats = repeats;
    options.hopeless = kNeverHopeless;
    options.by_host_clock = experiment.kind == ExperimentKind::timer;
    WorkloadRequest request;
    request.layout = experiment.layout;
    request.num_elements = experiment.num_elements;
    Climb climb{bench,     experiment,
                catalogue, options,
                show,      {*bench.timing, standard_operator(experiment.op, experiment.type), request}};
    return {experiment.figure, run(climb)};
}

MeasuredExperiment measure_contest(Session& session, bench::Bench& bench, const Experiment& experiment,
                                   int repeats, const Show& show)
{
    const auto op = standard_operator(experiment.op, experiment.type);
    bench::SweepRequest request;
    for (const auto& peer : peers())
        request.peers.push_back(&peer);
    request.only_fitting_peers = true;
    request.options.repeats = repeats;
    request.workload.num_elements = experiment.num_elements;
    std::optional<bench::WorkloadRecord> all;
    for (const auto& row : experiment.rows) {
        request.workload.layout = row.layout;
        const auto add = [&](bench::WorkloadRecord record) {
            std::vector<bench::Entry> entries;
            for (const auto* entry : {record.chosen(), record.best_peer()})
                if (entry)
                    entries.push_back(renamed(*entry, row.row));
            if (!all) {
                all = std::move(record);
                all->entries.clear();
            }
            all->entries.insert(all->entries.end(), entries.begin(), entries.end());
        };
        bench::bench_operator(
            session, bench, op, request,
            {[&](const std::string& what) { show(experiment.figure + ": " + row.row + ": " + what); },
             {},
             {},
             add,
             {}});
    }
    return {experiment.figure, std::move(*all)};
}

}  // namespace segfold::papers
