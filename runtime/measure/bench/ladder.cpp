#include "runtime/measure/bench/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "codegen/order/stage_order.h"
#include "dsl/error.h"
#include "dsl/evaluation/table_reads.h"
#include "dsl/stopped.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/data/shape.h"
#include "runtime/measure/bench/agreement.h"
#include "runtime/measure/bench/plans.h"
#include "runtime/measure/bench/probe.h"
#include "runtime/session/choice/record.h"

namespace segfold::bench {
namespace {

constexpr int kFewestRuns = 3;
constexpr int kHostLaunches = 20;
// If a fold takes fewer milliseconds, also measures how long a launch keeps the host busy.
constexpr double kMostForHost = 2;
constexpr double kMostForLoading = 100;  // most milliseconds that loading code takes at a first launch

std::string today()
{
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts = {};
    gmtime_r(&now, &parts);
    return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// Returns each resource's largest value over the kernels, and the occupancy of the kernel with most blocks.
/// Returns nothing if there are no kernels.
std::optional<Resources> resources_of(const std::vector<KernelUse>& kernels)
{
    if (kernels.empty())
        return std::nullopt;
    Resources all;
    std::int64_t most_blocks = -1;
    for (const auto& kernel : kernels) {
        all.registers = std::max(all.registers, kernel.registers);
        all.spill_bytes = std::max(all.spill_bytes, kernel.spill_bytes);
        all.local_bytes = std::max(all.local_bytes, kernel.local_bytes);
        all.shared_bytes = std::max(all.shared_bytes, static_cast<int>(kernel.shared_bytes));
        if (kernel.grid <= most_blocks)
            continue;
        most_blocks = kernel.grid;
        all.occupancy = kernel.occupancy;
    }
    return all;
}

/// Measures the plans and peers of one request.
class Climber {
public:
    Climber(Bench& bench, const LadderRequest& request, const LadderListener& listener)
        : bench_(bench),
          request_(request),
          listener_(listener),
          timing_(*bench.timing),
          segments_(request.workload.segments),
          placed_(timing_.place(request.workload, request.inputs)),
          agreements_(request.workload, *placed_, request.columns, request.problem.laws.is_associative()),
          peers_(bench.peers->over(request.problem, *placed_))
    {
        record_.op = request.problem.op.name;
        if (!request.problem.op.parameters.empty())
            record_.element_type = request.problem.op.parameters.front().type;
        const auto facts = problem_facts(request.problem);
        for (const auto& [fact, is_logarithm] : kRowFacts)
            record_.facts.push_back(facts.at(fact));
        record_.layout = request.layout;
        record_.form = segments_.form;
        record_.num_elements = segments_.num_elements;
        record_.num_segments = segments_.num_segments;
        const auto shape = shape_of(segments_);
        record_.longest_length = shape.longest;
        record_.padded_elements = shape.padded;
        record_.num_features = request.workload.num_features;
        record_.index_bits = segments_.index_bits();
        record_.traffic = traffic_by(read_form(request.problem, request.catalogue));
        record_.is_flushed = timing_.fits_cache(record_.traffic.total());
    }

    WorkloadRecord run()
    {
        auto plans = request_.plans;
        std::ranges::stable_partition(plans, [](const LadderPlan& plan) { return plan.is_chosen; });
        compile_plans(plans);
        for (const auto& plan : plans)
            measure_plan(plan);
        compile_peers();
        for (const auto* peer : request_.peers)
            measure_peer(*peer);
        record_.entries = in_order(std::move(record_.entries), request_.catalogue);
        return std::move(record_);
    }

private:
    void progress(const std::string& what) const
    {
        if (listener_.progress)
            listener_.progress(fmt::format("{} {}: {}", record_.op, record_.layout, what));
    }

    void add(Entry entry)
    {
        record_.entries.push_back(std::move(entry));
        if (listener_.measured)
            listener_.measured(record_, record_.entries.back());
    }

    /// Runs `work` on an entry. A failure becomes the entry's outcome. After loss of the context, the next
    /// call throws.
    template <class Work>
    void attempt(Entry entry, Work work)
    {
        throw_if_stopped();
        progress(entry.name);
        try {
            work(entry);
        } catch (const Error& error) {
            if (error.exit_code() == 4)
                throw;
            entry.outcome = Outcome::failed;
            entry.reason = error.what();
        }
        timing_.synchronize();
        add(std::move(entry));
    }

    /// Fills the result arrays with a byte that is different for each entry.
    void poison() { placed_->poison_results(static_cast<std::uint8_t>(0xa1 + 3 * record_.entries.size())); }

    void abandon(Entry& entry, std::string reason) const
    {
        entry.outcome = Outcome::abandoned;
        entry.reason = std::move(reason);
    }

    [[nodiscard]] std::string beside_best(double milliseconds) const
    {
        return fmt::format("{:.3g} ms, {:.0f} times the best so far", milliseconds, milliseconds / *best_);
    }

    [[nodiscard]] bool is_hopeless(double milliseconds) const
    {
        return best_ && milliseconds > request_.options.hopeless * *best_;
    }

    [[nodiscard]] Traffic traffic_by(SegmentForm form) const
    {
        return compulsory_traffic(request_.problem.op, segments_, request_.workload.num_features, form);
    }

    /// Times a fold that has run once before, and sets all members that derive from times. Also times folds
    /// with wrong results.
    void time(Entry& entry, double first, const std::function<void()>& launch, bool waits,
              const Traffic& traffic)
    {
        const auto& options = request_.options;
        const auto affordable = static_cast<int>(options.most_milliseconds / std::max(first, 1e-3));
        const int repeats = std::clamp(affordable, std::min(kFewestRuns, options.repeats), options.repeats);
        const int warmups = repeats < options.repeats ? 1 : kWarmups;
        entry.milliseconds = quartiles(timing_.time(launch, warmups, repeats, record_.is_flushed));
        entry.runs = repeats;
        const double seconds = entry.milliseconds.median / kMillisecondsPerSecond;
        entry.bytes_per_second = static_cast<double>(traffic.total()) / seconds;
        entry.fraction = entry.bytes_per_second / bench_.ceiling.bytes_per_second;
        if (entry.is_by_key)
            entry.fraction_with_keys =
                static_cast<double>(traffic.total_by_key()) / seconds / bench_.ceiling.bytes_per_second;
        if (options.by_host_clock)
            entry.wall_milliseconds =
                quartiles(timing_.wall_milliseconds(launch, warmups, repeats, record_.is_flushed));
        if (!waits && timing_.is_asynchronous() && entry.milliseconds.median < kMostForHost)
            entry.host_microseconds = timing_.host_microseconds(launch, kHostLaunches);
        if (entry.agreement.agrees && (!best_ || entry.milliseconds.median < *best_))
            best_ = entry.milliseconds.median;
    }

    [[nodiscard]] Emitted text_of(const LadderPlan& plan) const
    {
        auto emitted = emit(request_.problem, *plan.stage, plan.configuration, request_.catalogue);
        emitted.is_reproducible = plan.is_reproducible;
        return emitted;
    }

    /// Compiles, in parallel, all plans that are not compiled yet. Failures are reported later, when the plan
    /// is measured.
    void compile_plans(std::span<const LadderPlan> plans)
    {
        std::vector<Emitted> texts;
        for (const auto& plan : plans)
            if (plan.objection.empty())
                try {
                    texts.push_back(text_of(plan));
                } catch (const Error&) {
                    // The failure is reported when the plan is measured.
                }
        if (texts.empty())
            return;
        progress("compiling the stages");
        timing_.compile_each(texts);
    }

    void measure_plan(const LadderPlan& plan)
    {
        Entry entry;
        entry.name = plan.stage->name + (plan.label.empty() ? "" : ":" + plan.label) +
                     (plan.is_reproducible ? " (reproducible)" : "");
        entry.is_chosen = plan.is_chosen;
        entry.configuration = print(plan.configuration);
        entry.stage_hash = stage_hash(*plan.stage, request_.catalogue);
        if (!plan.objection.empty()) {
            entry.outcome = Outcome::left_out;
            entry.reason = plan.objection;
            add(std::move(entry));
            return;
        }
        // If the workload has turned two requested plans into the same plan, copies the entry of the first
        // one.
        const auto same = std::ranges::find_if(record_.entries, [&](const Entry& other) {
            return other.name.substr(0, other.name.find(':')) == plan.stage->name && !plan.is_reproducible &&
                   other.configuration == entry.configuration;
        });
        if (!plan.label.empty() && same != record_.entries.end()) {
            auto twin = *same;
            twin.name = entry.name;
            twin.is_chosen = false;
            add(std::move(twin));
            return;
        }
        attempt(std::move(entry), [&](Entry& own) {
            const auto emitted = text_of(plan);
            const auto loaded = timing_.prepare(*placed_, emitted);
            own.compile_milliseconds = loaded.compile_seconds * kMillisecondsPerSecond;
            own.resources = resources_of(loaded.kernels);
            if (best_ && !plan.is_chosen) {
                const double least = least_milliseconds(timing_, emitted, request_);
                if (is_hopeless(least))
                    return abandon(own, fmt::format("not run: the longest segment alone would take about {}",
                                                    beside_best(least)));
            }
            const auto& launch = loaded.launch;
            poison();
            double first = timing_.once(launch);
            own.agreement = agreements_.check(own.name, {});
            if (is_hopeless(first) && first < kMostForLoading)
                first = std::min(first, timing_.once(launch));
            if (is_hopeless(first) && !plan.is_chosen)
                return abandon(own, fmt::format("one launch took {}", beside_best(first)));
            const auto form = *served_form(*plan.stage, request_.problem.form);
            if (form != segments_.form)
                own.reason = fmt::format(
                    "{} are made of the {} before anything is timed; the share counts the {} alone",
                    name(form), name(segments_.form), name(form));
            time(own, first, launch, false, traffic_by(form));
        });
    }

    [[nodiscard]] std::string objection(const Peer& peer) const
    {
        if (const auto why = unmet(peer, request_.problem))
            return *why;
        if (const auto why = too_long(peer, record_.longest_length))
            return *why;
        if (!request_.problem.checked_tables.empty() && reads_by_rounding(request_.problem.op))
            return "checks no reads of tables, and rounding decides where this operator reads them";
        if (segments_.num_elements == 0)
            return "has nothing to fold";
        return bench_.peers->objection(peer);
    }

    /// Compiles, in parallel, all requested peers that are not compiled yet.
    void compile_peers()
    {
        std::vector<const Peer*> possible;
        for (const auto* peer : request_.peers)
            if (objection(*peer).empty())
                possible.push_back(peer);
        peers_->compile(possible, [&] { progress("compiling the peers"); });
    }

    void measure_peer(const Peer& peer)
    {
        Entry entry;
        entry.name = peer.name;
        entry.is_peer = true;
        entry.is_by_key = peer.is_by_key;
        if (const auto why = objection(peer); !why.empty()) {
            entry.outcome = Outcome::left_out;
            entry.reason = why;
            add(std::move(entry));
            return;
        }
        attempt(std::move(entry), [&](Entry& own) {
            const auto build = peers_->build(peer);
            own.compile_milliseconds = build.seconds * kMillisecondsPerSecond;
            own.is_compiled_before = build.is_compiled_before;
            const auto loaded = peers_->load(peer);
            const auto launch = [&] { loaded->launch(); };
            poison();
            (void)timing_.once(launch);  // loads the code
            const double first = timing_.once(launch);
            own.agreement = agreements_.check(own.name, loaded->filled());
            time(own, first, launch, peer.library == "thrust", record_.traffic);
        });
    }

    Bench& bench_;
    const LadderRequest& request_;
    const LadderListener& listener_;
    Timing& timing_;
    const Segments& segments_;
    std::unique_ptr<PlacedWorkload> placed_;
    Agreements agreements_;
    std::unique_ptr<WorkloadPeers> peers_;
    std::optional<double> best_;
    WorkloadRecord record_;
};

}  // namespace

Bench::Bench(Backend& measured, const std::filesystem::path& cccl)
    : backend(measured),
      timing(measured.timing()),
      ceiling(timing->read_ceiling()),
      peers(make_peer_libraries(*timing, cccl))
{}

MachineRecord Bench::machine() const
{
    const auto facts = timing->facts();
    MachineRecord record;
    record.device = backend.identity().value_or(DeviceIdentity()).name;
    record.driver = facts.driver;
    record.compiler = facts.compiler;
    record.library = peers->description();
    record.date = today();
    record.ceiling = ceiling.bytes_per_second;
    record.ceiling_text = ceiling.text;
    record.host = cpu::processor_name();
    return record;
}

WorkloadRecord climb(Bench& bench, const LadderRequest& request, const LadderListener& listener)
{
    return Climber(bench, request, listener).run();
}

std::vector<Entry> in_order(std::vector<Entry> entries, const Catalogue& catalogue)
{
    const auto place = [&](const Entry& entry) {
        if (entry.is_peer)
            return std::ranges::find(peers(), std::string_view(entry.name), &Peer::name) - peers().begin() +
                   10000;
        return std::ranges::find(catalogue.stages(), entry.name, &Stage::name) - catalogue.stages().begin();
    };
    std::ranges::stable_sort(entries, {}, place);
    return entries;
}

}  // namespace segfold::bench
