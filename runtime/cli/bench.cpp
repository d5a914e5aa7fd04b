// segfold bench: every stage and the peers, timed and held against the memory's read rate.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/bench/cases.h"
#include "runtime/bench/ladder.h"
#include "runtime/bench/markdown.h"
#include "runtime/bench/record_json.h"
#include "runtime/cli/bench_view.h"
#include "runtime/cli/form_argument.h"
#include "runtime/cli/json.h"
#include "runtime/cli/operator_argument.h"
#include "runtime/cli/plan.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/workload_argument.h"
#include "runtime/data/shape.h"
#include "runtime/session/lookup.h"

namespace segfold::cli {
namespace {

using bench::Entry;
using bench::WorkloadRecord;

constexpr std::int64_t kBenchElements = std::int64_t{1} << 28;
constexpr std::int64_t kSmallestSize = std::int64_t{1} << 16;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 30;
constexpr std::int64_t kMostBenchElements = std::int64_t{1} << 40;
constexpr double kShareOfMemory = 0.8;
constexpr std::array<std::string_view, 2> kSweeps = {"sizes", "layouts"};
constexpr Flag kBenchFlags[] = {{"peers", "LIST"},
                                {"repeat", "R"},
                                {"device", "N"},
                                {"sweep", "sizes|layouts"},
                                {"from", "N"},
                                {"to", "N"},
                                {"markdown"},
                                {"log", "FILE"},
                                {"emit-peer", "PEER"},
                                {"plan", "STAGE:NAME=VALUE,...", true},
                                {"ladder"},
                                {"no-tune"},
                                {"given-as", "flags|keys"}};
constexpr std::array<std::string_view, 2> kFoundForms = {"flags", "keys"};

/// What the command line asks for, read before a GPU is looked for.
struct BenchRequest {
    std::vector<Operator> operators;
    WorkloadRequest workload;
    std::vector<const Peer*> peers;
    bool names_libraries =
        true;  ///< peers that do not take the form of the segments are passed over in silence
    std::optional<std::size_t> sweep;
    std::optional<std::size_t> given_as;  ///< of kFoundForms
    std::int64_t from = kSmallestSize, to = kLargestSize;
    bench::LadderOptions options;
};

/// "none", or names of peers and libraries with commas between them.
std::vector<const Peer*> peers_argument(const Arguments& arguments)
{
    const auto list = arguments.value("peers").value_or("cub,thrust");
    std::vector<const Peer*> chosen;
    for (std::size_t at = 0; at <= list.size() && list != "none";) {
        const auto comma = std::min(list.find(',', at), list.size());
        const auto word = list.substr(at, comma - at);
        at = comma + 1;
        bool is_library = false;
        for (const auto& candidate : peers())
            if (candidate.library == word) {
                is_library = true;
                chosen.push_back(&candidate);
            }
        if (!is_library) {
            try {
                chosen.push_back(&peer(word));
            } catch (const InputError& error) {
                throw InputError(
                    fmt::format("--peers: {}; cub, thrust and none are known too", error.what()));
            }
        }
    }
    // Each once, in the order of tables.
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

BenchRequest bench_request(const Arguments& arguments)
{
    BenchRequest request;
    request.operators = operator_arguments(arguments);
    request.workload = workload_request(arguments, request.operators.front(), true);
    request.peers = peers_argument(arguments);
    request.names_libraries = arguments.value("peers").value_or("cub").find('_') == std::string::npos;
    request.options.repeats = static_cast<int>(arguments.integer("repeat", 1, 10000).value_or(21));
    request.sweep = arguments.choice("sweep", kSweeps);
    if (!request.sweep || kSweeps[*request.sweep] != "sizes")
        for (const auto flag : {"from", "to"})
            arguments.refuse(flag, "is an end of --sweep sizes");
    if (request.sweep && kSweeps[*request.sweep] == "sizes")
        arguments.refuse("elements",
                         "names one size, and --sweep sizes goes through many; see --from and --to");
    if (request.sweep && kSweeps[*request.sweep] == "layouts")
        arguments.refuse("layout", "names one layout, and --sweep layouts goes through the standard ones");
    if (request.sweep)
        arguments.refuse("input", "gives data of one size, and --sweep generates it");
    request.from =
        arguments.integer("from", 1, kMostBenchElements).value_or(std::min(kSmallestSize, request.to));
    request.to =
        arguments.integer("to", 1, kMostBenchElements).value_or(std::max(kLargestSize, request.from));
    if (request.from > request.to)
        throw InputError(fmt::format("--from is {} and --to {}; the first must not be the larger",
                                     request.from, request.to));
    (void)settings(arguments);
    request.given_as = arguments.choice("given-as", kFoundForms);
    if (arguments.json() && arguments.has("markdown"))
        throw InputError("--json and --markdown are two forms of one result; give one of them");
    return request;
}

/// Throws DeviceError where there is no GPU.
void require_gpu()
{
    auto reason = cuda::no_device_reason();
    if (reason.empty())
        return;
    reason.resize(std::min(reason.find("; use --backend"), reason.size()));  // which measures nothing
    throw DeviceError(fmt::format("bench measures on a GPU: {}", reason));
}

int emit_peer_text(const Arguments& arguments)
{
    const auto op = operator_argument(arguments);
    const auto& wanted = peer(*arguments.value("emit-peer"));
    constexpr std::array<std::string_view, 2> kWidths = {"32", "64"};
    const int bits = arguments.choice("index-bits", kWidths).value_or(0) == 0 ? 32 : 64;
    const auto form = parse_form(arguments.value("layout").value_or("whole")).form;
    const auto emitted = emit_peer(make_problem(op, form, bits, quick_laws(op)), wanted);
    if (arguments.json())
        write_json(
            "peer",
            {{"peer", wanted.name}, {"form", name(form)}, {"index_bits", bits}, {"source", emitted.source}});
    else
        write_document(emitted.source);
    return 0;
}

/// Everything that is written while and after a bench runs.
class BenchReport {
public:
    BenchReport(const Arguments& arguments, const bench::MachineRecord& machine, bool with_operators)
        : is_json_(arguments.json()), is_markdown_(arguments.has("markdown")), with_operators_(with_operators)
    {
        if (const auto path = arguments.value("log")) {
            log_.open(*path, std::ios::app);
            log_path_ = *path;
            log(json_of(machine));
        }
        document_ = {{"machine", json_of(machine)}, {"workloads", Json::array()}};
        if (is_markdown_)
            write_output(bench::markdown_header(machine) + "\n" + bench::markdown_titles(with_operators_));
        else if (!is_json_)
            write_output(print(machine));
    }

    void progress(const std::string& what) { progress_.show(what); }

    /// One measurement; the log has it at once, so that a run that is stopped loses only what is still to
    /// come.
    void add(const WorkloadRecord& so_far, const Entry& entry)
    {
        if (!log_.is_open())
            return;
        Json line = {{"operator", so_far.op},
                     {"layout", so_far.layout},
                     {"num_elements", so_far.num_elements},
                     {"num_segments", so_far.num_segments},
                     {"bytes", so_far.traffic.total()}};
        line.update(json_of(entry));
        log(line);
    }

    void add(WorkloadRecord record)
    {
        progress_.clear();
        if (is_json_)
            document_["workloads"].push_back(json_of(record));
        else if (is_markdown_)
            write_output(bench::markdown_row(record, with_operators_));
        else
            write_output("\n" + print(record));
        records_.push_back(std::move(record));
    }

    /// A workload of a sweep that cannot be had.
    void skip(const std::string& workload, const std::string& why)
    {
        progress_.clear();
        write_error(fmt::format("skipped {}: {}", workload, why));
        document_["skipped"].push_back({{"workload", workload}, {"reason", why}});
    }

    /// Writes what comes last; returns the exit code.
    int end()
    {
        progress_.clear();
        const auto wrong =
            std::ranges::count_if(records_, [](const auto& record) { return !record.agrees(); });
        if (is_json_)
            write_json("bench", std::move(document_));
        else if (is_markdown_)
            write_output(bench::markdown_mean(records_, with_operators_));
        else if (records_.size() > 1)
            write_output(mean_text());
        if (is_markdown_ && wrong != 0)
            write_error(
                fmt::format("wrong results in {} of {} workloads; run them without --markdown to see which",
                            wrong, records_.size()));
        return wrong == 0 ? 0 : 1;
    }

private:
    void log(const Json& line)
    {
        log_ << line.dump() << std::endl;
        if (!log_)
            throw InputError(fmt::format("{}: cannot be written", log_path_));
    }

    [[nodiscard]] std::string mean_text() const
    {
        std::vector<double> ratios;
        for (const auto& record : records_)
            if (const auto ratio = record.speed_up())
                ratios.push_back(*ratio);
        return ratios.empty() ? ""
                              : fmt::format(
                                    "\nbeside the best peer of each of {} workloads, the geometric mean is "
                                    "{:.2f} times as fast\n",
                                    ratios.size(), geometric_mean(ratios));
    }

    bool is_json_, is_markdown_, with_operators_;
    std::string log_path_;
    std::ofstream log_;
    Json document_;
    std::vector<WorkloadRecord> records_;
    Progress progress_;
};

/// What a ladder has for a problem: the stage asked for alone, or the plans of --plan behind the one that a
/// run takes, else every stage that takes the form of the segments.
std::vector<bench::LadderPlan> plans_for(const Arguments& arguments, const Problem& problem,
                                         const Shape& shape, const OperatorLaws& laws,
                                         const Catalogue& catalogue, const cuda::DeviceInfo& device)
{
    tune::Lookup lookup;
    if (chosen_by_flag(arguments).empty() && !arguments.has("no-tune"))
        lookup = tune::look_up(tune::RecordStore::open(tune::record_folder()),
                               {tune::identity_of(device), problem, shape, catalogue});
    for (const auto& ignored : lookup.ignored)
        write_error("warning: " + ignored);
    const auto chosen = choose_plan(plan_request(arguments), problem, shape, laws, catalogue,
                                    lookup.point ? &*lookup.point : nullptr);
    std::vector<bench::LadderPlan> plans = {{chosen.stage, chosen.emitted.configuration, true, ""}};
    if (arguments.has("reproducible"))
        plans.push_back({chosen.stage, chosen.emitted.configuration, false, "", true});
    for (const auto& word : plan_words(arguments)) {
        const auto& stage = catalogue.stage(word.stage);
        bench::LadderPlan plan{&stage, {},           false, catalogue.unmet(stage, problem).value_or(""),
                               false,  word.tunables};
        try {
            plan.configuration = configure(stage, word.chosen, plan_facts(problem, shape));
        } catch (const InputError& error) {  // in a sweep another workload may allow it
            plan.objection = error.what();
        }
        plans.push_back(std::move(plan));
    }
    if (chosen.is_asked || arguments.has("plan"))
        return plans;
    for (const auto& stage : catalogue.stages()) {
        const bool takes_form = std::ranges::find(stage.forms, problem.form) != stage.forms.end();
        if (takes_form && &stage != chosen.stage && (!stage.is_rung || arguments.has("ladder")))
            plans.push_back({&stage, default_configuration(stage, plan_facts(problem, shape)), false,
                             catalogue.unmet(stage, problem).value_or("")});
    }
    return plans;
}

/// The most elements of a power of two whose data fits the GPU comfortably.
std::int64_t fitting_elements(const cuda::Context& context, const Operator& op, const Layout& layout)
{
    auto elements = kBenchElements;
    while (elements > 1 && bench::most_bytes(op, layout, elements) >
                               kShareOfMemory * static_cast<double>(context.memory().free_bytes))
        elements /= 2;
    return elements;
}

std::vector<bench::Case> cases_for(const BenchRequest& request, const cuda::Context& context,
                                   const Operator& op)
{
    const auto& layout = request.workload.layout;
    if (request.sweep && kSweeps[*request.sweep] == "sizes")
        return bench::size_cases(layout, request.from, request.to);
    auto elements = request.workload.num_elements;
    const bool is_counted_by_files =
        !request.workload.inputs.empty() ||
        (layout.kind != LayoutKind::whole && layout.kind != LayoutKind::uniform &&
         layout.kind != LayoutKind::generated);
    if (!elements && !is_counted_by_files)
        elements = fitting_elements(context, op, request.sweep ? parse_layout("uniform=1") : layout);
    if (request.sweep)
        return bench::standard_cases(elements.value_or(kBenchElements));
    return {{layout, elements}};
}

void bench_case(bench::Bench& bench, const BenchRequest& request, const bench::Case& wanted,
                const OperatorLaws& laws, const Arguments& arguments, const Catalogue& catalogue,
                bench::CaseData& data, BenchReport& report)
{
    report.progress(fmt::format("preparing {}", print(wanted.layout)));
    auto prepared = data.prepare(wanted);
    if (request.given_as)
        prepared.workload.segments = given_as(*request.given_as == 0 ? SegmentForm::flags : SegmentForm::keys,
                                              prepared.workload.segments);
    const auto& segments = prepared.workload.segments;
    auto problem = make_problem(prepared.workload, laws);
    problem.target = cuda::target_of(bench.context.info());
    std::vector<const Peer*> peers;
    for (const auto* candidate : request.peers)
        if (!request.names_libraries ||
            std::ranges::find(candidate->forms, problem.form) != candidate->forms.end())
            peers.push_back(candidate);
    const bench::LadderRequest ladder{
        problem,
        prepared.workload,
        prepared.inputs,
        print(wanted.layout) + (is_found(segments.form) ? fmt::format(" as {}", name(segments.form)) : ""),
        plans_for(arguments, problem, shape_of(segments), laws, catalogue, bench.context.info()),
        peers,
        catalogue,
        request.options};
    auto record =
        climb(bench, ladder,
              {[&](const std::string& what) { report.progress(what); },
               [&](const WorkloadRecord& so_far, const Entry& entry) { report.add(so_far, entry); }});
    record.preparation_seconds = prepared.seconds;
    report.add(std::move(record));
}

/// Values such as the bench's: those of the files, or some of the generated ones.
Workload sample(const Operator& op, WorkloadRequest request)
{
    constexpr std::int64_t kSampledElements = std::int64_t{1} << 16;
    const bool is_made_up = request.layout.kind == LayoutKind::whole ||
                            request.layout.kind == LayoutKind::uniform ||
                            request.layout.kind == LayoutKind::generated;
    if (request.inputs.empty() && is_made_up) {
        request.layout = {};
        request.num_elements = kSampledElements;
    }
    return prepare_workload(op, request).workload;
}

void bench_operator(bench::Bench& bench, const BenchRequest& request, const Operator& op,
                    const Arguments& arguments, const Catalogue& catalogue, BenchReport& report)
{
    auto workload = request.workload;
    if (!arguments.has("values"))
        workload.values = suiting_values(op);
    auto laws = quick_laws(op, assumed_laws(arguments, op));
    if (depends_on_data(laws))
        laws = on_data(std::move(laws), sample(op, workload));
    for (const auto& warning : law_warnings(laws, op))
        write_error("warning: " + warning);
    bench::CaseData data(bench.context, op, workload);
    for (const auto& wanted : cases_for(request, bench.context, op)) {
        const auto named = fmt::format(
            "{} {}{}", op.name, print(wanted.layout),
            wanted.num_elements ? fmt::format(" of {} elements", bench::element_text(*wanted.num_elements))
                                : "");
        const double needed =
            wanted.num_elements ? bench::most_bytes(op, wanted.layout, *wanted.num_elements) : 0;
        const auto present = static_cast<double>(bench.context.info().memory_bytes);
        if (request.sweep && needed > present) {
            report.skip(named, fmt::format("it may need {:.0f} GB, and {} has {:.0f}", needed / 1e9,
                                           bench.context.info().name, present / 1e9));
            continue;
        }
        try {
            bench_case(bench, request, wanted, laws, arguments, catalogue, data, report);
        } catch (const Error& error) {
            if (!request.sweep || error.exit_code() == 4)
                throw;
            bench.context.synchronize();  // throws where the GPU takes no more work
            report.skip(named, error.what());
        }
    }
}

}  // namespace

int verb_bench(const Words& words)
{
    const Arguments arguments(
        "bench", words, join({kOperatorFlags, kInputFlags, kDataFlags, kPlanFlags, kLawFlags, kBenchFlags}),
        1);
    arguments.refuse("at-launch",
                     "is for tuners and for whoever looks at what they compile; plans are timed as they run");
    if (arguments.has("emit-peer"))
        return emit_peer_text(arguments);
    const auto request = bench_request(arguments);
    const Kernels kernels(arguments);
    if (const auto stage = arguments.value("stage"))
        check_tunables(kernels.catalogue().stage(*stage), settings(arguments));
    for (const auto& word : plan_words(arguments))
        check_tunables(kernels.catalogue().stage(word.stage), word.chosen);
    require_gpu();
    const cuda::Context context(static_cast<int>(arguments.integer("device", 0, 1023).value_or(0)));
    bench::Bench bench(context);
    BenchReport report(arguments, bench.machine(), request.operators.size() > 1);
    for (const auto& op : request.operators)
        bench_operator(bench, request, op, arguments, kernels.catalogue(), report);
    return report.end();
}

}  // namespace segfold::cli
