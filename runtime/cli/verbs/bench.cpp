// segfold bench: times every stage and the peers, and compares them with the read ceiling of the memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/form_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/charts/chart_files.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/views/bench_view.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/measure/bench/peers/cccl.h"
#include "runtime/measure/bench/record_json.h"
#include "runtime/measure/bench/workloads/sweep.h"
#include "runtime/measure/charts/bench_chart.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"

namespace segfold::cli {
namespace {

using bench::Entry;
using bench::WorkloadRecord;

constexpr std::int64_t kMostBenchElements = std::int64_t{1} << 40;
constexpr std::array<std::string_view, 3> kSweeps = {"sizes", "layouts", "lot:N"};
constexpr Flag kBenchFlags[] = {{"peers", "LIST"},
                                {"repeat", "R"},
                                {"backend", "BACKEND"},
                                {"device", "N"},
                                {"sweep", "sizes|layouts|lot:N,seed=S"},
                                {"from", "N"},
                                {"to", "N"},
                                {"markdown"},
                                {"log", "FILE"},
                                {"rates", "FILE"},
                                {"emit-peer", "PEER"},
                                {"plan", "STAGE:NAME=VALUE,...", true},
                                {"first", "N"},
                                {"ladder"},
                                {"no-tune"},
                                {"given-as", "flags|keys"}};
constexpr std::array<std::string_view, 2> kFoundForms = {"flags", "keys"};

/// The peers (algorithms of CUB and Thrust) selected by --peers.
struct AskedPeers {
    std::vector<const Peer*> chosen;  ///< each peer once, in the table's order
    /// True if --peers names at least one peer; false if it names only libraries.
    bool is_by_name = false;
    /// Folder of CCCL headers; empty to search for it.
    std::filesystem::path cccl;
};

/// The request of the command line. It is read before a device is opened.
struct BenchRequest {
    std::vector<Operator> operators;
    bench::SweepRequest sweep;
    std::filesystem::path cccl;
};

/// Reads --peers: "none", or a list of peers, libraries and cccl=DIR, separated by commas.
AskedPeers peers_argument(const Arguments& arguments)
{
    constexpr std::string_view kHeaders = "cccl=";
    AskedPeers asked;
    std::vector<std::string> words;
    const auto list = arguments.value("peers").value_or("");
    for (std::size_t at = 0; at <= list.size();) {
        const auto comma = std::min(list.find(',', at), list.size());
        auto word = list.substr(at, comma - at);
        at = comma + 1;
        if (!word.starts_with(kHeaders)) {
            words.push_back(std::move(word));
            continue;
        }
        word.erase(0, kHeaders.size());
        if (word.empty())
            throw InputError(
                "--peers: cccl= names no folder; write cccl=DIR, a folder with the headers of CCCL");
        if (!asked.cccl.empty())
            throw InputError("--peers gives cccl twice; all peers of a run take the same headers");
        asked.cccl = bench::named_cccl(word, "--peers");
    }
    if (!arguments.value("peers") || words.empty())
        words = {"cub", "thrust"};
    if (words == std::vector<std::string>{"none"})
        words.clear();
    for (const auto& word : words) {
        bool is_library = false;
        for (const auto& candidate : peers())
            if (candidate.library == word) {
                is_library = true;
                asked.chosen.push_back(&candidate);
            }
        if (is_library)
            continue;
        asked.is_by_name = true;
        try {
            asked.chosen.push_back(&peer(word));
        } catch (const InputError& error) {
            throw InputError(
                fmt::format("--peers: {}; cub, thrust, none and cccl=DIR are known too", error.what()));
        }
    }
    std::ranges::sort(asked.chosen);
    asked.chosen.erase(std::unique(asked.chosen.begin(), asked.chosen.end()), asked.chosen.end());
    return asked;
}

std::vector<bench::AskedPlan> asked_plans(const Arguments& arguments)
{
    std::vector<bench::AskedPlan> plans;
    for (auto& word : plan_words(arguments))
        plans.push_back({word.stage, word.tunables, word.chosen, word.is_near});
    return plans;
}

BenchRequest bench_request(const Arguments& arguments)
{
    BenchRequest all;
    all.operators = operator_arguments(arguments);
    auto& request = all.sweep;
    request.workload = workload_request(arguments, all.operators.front(), true);
    for (const auto& op : all.operators)
        require_given_by_flags(op, request.workload);
    auto asked_peers = peers_argument(arguments);
    request.peers = std::move(asked_peers.chosen);
    all.cccl = std::move(asked_peers.cccl);
    // If --peers names only libraries, skips peers that do not support the form of the segments.
    request.only_fitting_peers = !asked_peers.is_by_name;
    request.options.repeats = static_cast<int>(arguments.integer("repeat", 1, 10000).value_or(21));
    if (const auto lot = bench::parse_lot(arguments.value("sweep").value_or(""))) {
        request.sweep = bench::Sweep::lot;
        request.lot = *lot;
    } else if (const auto sweep = arguments.choice("sweep", kSweeps))  // "lot:N" has been read above
        request.sweep = *sweep == 0 ? bench::Sweep::sizes : bench::Sweep::layouts;
    if (request.sweep != bench::Sweep::sizes && request.sweep != bench::Sweep::lot)
        for (const auto flag : {"from", "to"})
            arguments.refuse(flag, "is an end of --sweep sizes or --sweep lot:N");
    if (request.sweep == bench::Sweep::sizes)
        arguments.refuse("elements",
                         "names one size, and --sweep sizes goes through many; see --from and --to");
    if (request.sweep == bench::Sweep::lot)
        arguments.refuse("elements", "names one size, and --sweep lot draws them; see --from and --to");
    if (request.sweep == bench::Sweep::lot)
        arguments.refuse("layout", "names one layout, and --sweep lot draws them; leave it out");
    if (request.sweep == bench::Sweep::layouts)
        arguments.refuse("layout", "names one layout, and --sweep layouts goes through the standard ones");
    if (request.sweep != bench::Sweep::none)
        arguments.refuse("input", "gives data of one size, and --sweep generates it");
    const bool is_lot = request.sweep == bench::Sweep::lot;
    const auto [smallest, largest] =
        is_lot ? std::pair(request.lot.from, request.lot.to) : std::pair(request.from, request.to);
    const auto asked_most = arguments.integer("to", 1, kMostBenchElements);
    request.from = arguments.integer("from", 1, kMostBenchElements)
                       .value_or(std::min({smallest, largest, asked_most.value_or(largest)}));
    request.to = asked_most.value_or(std::max(largest, request.from));
    if (request.from > request.to)
        throw InputError(fmt::format("--from is {} and --to {}; the first must not be the larger",
                                     request.from, request.to));
    const auto least_power = std::bit_ceil(static_cast<std::uint64_t>(request.from));
    if (request.sweep == bench::Sweep::sizes && least_power > static_cast<std::uint64_t>(request.to))
        throw InputError(fmt::format("no power of two lies between --from {} and --to {}; the next is {}",
                                     request.from, request.to, least_power));
    if (is_lot) {
        request.lot.from = request.from;
        request.lot.to = request.to;
    }
    request.plans.chosen = plan_request(arguments);
    request.plans.others = asked_plans(arguments);
    request.plans.first = static_cast<int>(arguments.integer("first", 1, 1000).value_or(0));
    request.plans.with_rungs = arguments.has("ladder");
    request.plans.asks_records = !arguments.has("no-tune");
    if (const auto form = arguments.choice("given-as", kFoundForms))
        request.given_as = *form == 0 ? SegmentForm::flags : SegmentForm::keys;
    if (arguments.json() && arguments.has("markdown"))
        throw InputError("--json and --markdown are two forms of one result; give one of them");
    return all;
}

int emit_peer_text(const Arguments& arguments)
{
    const auto op = operator_argument(arguments);
    const auto& wanted = peer(*arguments.value("emit-peer"));
    constexpr std::array<std::string_view, 2> kWidths = {"32", "64"};
    const int bits = arguments.choice("index-bits", kWidths).value_or(0) == 0 ? 32 : 64;
    const auto form = parse_form(arguments.value("layout").value_or("whole")).form;
    const auto emitted = emit_peer(make_problem(op, form, bits, Session().laws(op)), wanted);
    if (arguments.json())
        write_json(
            "peer",
            {{"peer", wanted.name}, {"form", name(form)}, {"index_bits", bits}, {"source", emitted.source}});
    else
        write_document(emitted.source);
    return 0;
}

/// Warns about libraries in --peers that fold on a GPU while the back end is the host, or the reverse.
void warn_of_other_peers(const Arguments& arguments, const bench::SweepRequest& request,
                         const bench::PeerLibraries& libraries, const Backend& backend)
{
    if (!arguments.has("peers") || !request.only_fitting_peers)  // named peers have a row that says the same
        return;
    std::map<std::string_view, bool> has_some;
    for (const auto* peer : request.peers)
        has_some[peer->library] |= peer->is_of_host() == libraries.is_of_host();
    for (const auto& [library, is_measured] : has_some)
        if (!is_measured)
            write_error(
                fmt::format("warning: --peers {0}: {0} folds {1} alone, and the back end is {2}; it is "
                            "not measured",
                            library, libraries.is_of_host() ? "on a GPU" : "on the host", backend.name()));
}

/// Writes a bench's progress, log and results.
class BenchReport {
public:
    BenchReport(const Arguments& arguments, const bench::MachineRecord& machine, bool with_operators)
        : is_json_(arguments.json()),
          is_markdown_(arguments.has("markdown")),
          is_lot_(arguments.value("sweep").value_or("").starts_with("lot")),
          with_operators_(with_operators),
          machine_(machine)
    {
        if (const auto path = arguments.value("log")) {
            open(log_, *path);
            log_path_ = *path;
            log(json_of(machine));
        }
        if (const auto path = arguments.value("rates")) {
            std::error_code error;
            const bool is_new = std::filesystem::file_size(*path, error) == 0 || error;
            open(rates_, *path);
            rates_path_ = *path;
            write_rates(is_new ? bench::titles_of_rates() : "");
        }
        document_ = {{"machine", json_of(machine)}, {"workloads", Json::array()}};
        if (is_markdown_)
            write_output(bench::markdown_header(machine) + "\n" + bench::markdown_titles(with_operators_));
        else if (!is_json_)
            write_output(print(machine));
    }

    bench::SweepListener listener(const Arguments& arguments)
    {
        return {[this](const std::string& what) { progress_.show(what); },
                [&arguments](const std::string& warning) { write_warnings(arguments, {warning}); },
                [this](const WorkloadRecord& so_far, const Entry& entry) { add(so_far, entry); },
                [this](WorkloadRecord record) { add(std::move(record)); },
                [this](const std::string& workload, const std::string& why) { skip(workload, why); }};
    }

    /// Writes the last lines and the charts. Returns the exit code.
    int end(const ChartFiles& files)
    {
        progress_.clear();
        if (!files.asked_by().empty()) {
            auto chart = charts::bench_chart(records_, machine_.device + ", " + machine_.date);
            if (!chart)
                throw InputError(files.asked_by() +
                                 ": there is nothing to draw: no plan and no peer has a time");
            files.write({"segfold bench", {bench::markdown_header(machine_)}, {std::move(*chart)}});
        }
        const auto wrong =
            std::ranges::count_if(records_, [](const auto& record) { return !record.agrees(); });
        if (is_json_)
            write_json("bench", std::move(document_));
        else if (is_markdown_)
            write_output(bench::markdown_mean(records_, with_operators_));
        else if (records_.size() > 1)
            write_output(mean_text() + (is_lot_ ? bench::print_deciles(bench::chosen_shares(records_)) : ""));
        if (is_markdown_ && wrong != 0)
            write_error(
                fmt::format("wrong results in {} of {} workloads; run them without --markdown to see which",
                            wrong, records_.size()));
        return wrong == 0 ? 0 : 1;
    }

private:
    static void open(std::ofstream& file, const std::string& path)
    {
        errno = 0;
        file.open(path, std::ios::app);
        if (!file)
            refuse_to_write(path + ": ", errno);
    }

    /// Writes one measurement to the log, if there is one, so that it survives an early end of the run.
    void add(const WorkloadRecord& so_far, const Entry& entry)
    {
        if (!log_.is_open())
            return;
        Json line = {{"operator", so_far.op},
                     {"layout", so_far.layout},
                     {"num_elements", so_far.num_elements},
                     {"num_segments", so_far.num_segments},
                     {"num_features", so_far.num_features},
                     {"bytes", so_far.traffic.total()}};
        line.update(json_of(entry));
        log(line);
    }

    void add(WorkloadRecord record)
    {
        progress_.clear();
        if (rates_.is_open())
            write_rates(bench::print_rates({record}, machine_));
        if (is_json_)
            document_["workloads"].push_back(json_of(record));
        else if (is_markdown_)
            write_output(bench::markdown_row(record, with_operators_));
        else
            write_output("\n" + print(record));
        records_.push_back(std::move(record));
    }

    /// Reports that a workload of a sweep cannot be generated.
    void skip(const std::string& workload, const std::string& why)
    {
        progress_.clear();
        write_error(fmt::format("skipped {}: {}", workload, why));
        document_["skipped"].push_back({{"workload", workload}, {"reason", why}});
    }

    void log(const Json& line)
    {
        errno = 0;
        log_ << line.dump() << std::endl;
        if (!log_)
            refuse_to_write(log_path_ + ": ", errno);
    }

    void write_rates(const std::string& lines)
    {
        errno = 0;
        rates_ << lines << std::flush;
        if (!rates_)
            refuse_to_write(rates_path_ + ": ", errno);
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

    bool is_json_, is_markdown_, is_lot_, with_operators_;
    bench::MachineRecord machine_;
    std::string log_path_, rates_path_;
    std::ofstream log_, rates_;
    Json document_;
    std::vector<WorkloadRecord> records_;
    Progress progress_;
};

}  // namespace

int verb_bench(const Words& words)
{
    const Arguments arguments("bench", words,
                              join({kOperatorFlags, kScannedFlags, kInputFlags, kDataFlags, kPlanFlags,
                                    kLawFlags, kBenchFlags, kChartFlags}),
                              1);
    arguments.refuse("at-launch",
                     "is for tuners and for whoever looks at what they compile; plans are timed as they run");
    if (arguments.has("emit-peer"))
        return emit_peer_text(arguments);
    const auto [operators, asked, cccl] = bench_request(arguments);
    for (const auto* flag : {"log", "rates"})  // throws for a bad file before anything is measured
        if (const auto path = arguments.value(flag))
            require_appendable(*path);
    const ChartFiles files(arguments);
    const Kernels kernels(arguments);
    const auto& catalogue = takes_native_stages(arguments) ? Catalogue::native() : kernels.catalogue();
    if (const auto& stage = asked.plans.chosen.stage)
        check_tunables(catalogue.stage(*stage), asked.plans.chosen.settings);
    for (const auto& plan : asked.plans.others)
        check_tunables(catalogue.stage(plan.stage), plan.settings);
    auto options = session_options(arguments, operators.front());
    for (const auto& op : operators)
        options.assume = assumed_laws(arguments, op);
    Session session(timed_backend_argument(arguments), options);
    const auto request_of = [&](const Operator& op) {
        auto request = asked;
        if (!arguments.has("values"))
            request.workload.values = suiting_values(op);
        return request;
    };
    for (const auto& op : operators)
        bench::require_measurable(session, op, request_of(op));
    bench::Bench bench(core(session).backend(), cccl);
    warn_of_other_peers(arguments, asked, *bench.peers, core(session).backend());
    BenchReport report(arguments, bench.machine(), operators.size() > 1);
    const auto listener = report.listener(arguments);
    for (const auto& op : operators)
        bench::bench_operator(session, bench, op, request_of(op), listener);
    return report.end(files);
}

}  // namespace segfold::cli
