#include "runtime/measure/times/ratios.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <optional>

#include "dsl/error.h"
#include "runtime/data/resolve.h"
#include "runtime/data/shape.h"
#include "runtime/judge/table_check.h"
#include "runtime/measure/bench/probe.h"
#include "runtime/support/statistics.h"
#include "runtime/support/text_table.h"

namespace segfold::regress {
namespace {

// Most milliseconds that loading code takes at a first launch.
constexpr double kMostLoadingMilliseconds = 100;
constexpr double kMostPatienceMilliseconds = 30000;  // longest launch that is awaited without a cut-off
constexpr double kLongMilliseconds = 1000;           // launches that take longer are timed once per round
constexpr const char* kWhole = "whole";
constexpr const char* kRead = "read";

/// The data of one operator and one layout.
struct Data {
    Workload segmented;
    std::optional<Workload> keyed;  ///< the same segments given as keys, if none is empty
    Workload whole;
    std::shared_ptr<const LoadedArrays> inputs;
    std::int64_t longest = 0;
    std::string objection;  ///< reason why the operator cannot fold these segments; empty if it can
};

/// A stage's plan, or the reason why it has none.
struct Choice {
    const Stage* stage = nullptr;
    const Workload* workload = nullptr;
    std::optional<Emitted> emitted;
    std::string reason;
};

/// The number of repetitions of a measurement, and its limits.
struct Effort {
    int rounds, samples, dropped;
    bool has_cut_off = true;
    double seconds = std::numeric_limits<double>::infinity();  ///< no round begins after this time
};

/// The effort for a case over the cut-off. Its launches are long, so few are made.
constexpr Effort kSlowEffort = {3, 3, 0, false, 5};

/// A copy of the data for one round, at its own addresses.
struct Placement {
    std::shared_ptr<const LoadedArrays> inputs;
    std::map<const Workload*, std::unique_ptr<PlacedWorkload>> placed;
};

/// Returns an objection that names an element that reads outside of a table, with these segments or with all
/// elements in one segment. Empty if no element does.
std::string table_objection(const Operator& op, std::vector<Array>& arrays, const Segments& segments)
{
    Workload workload{op, std::move(arrays), segments.copy()};
    std::string objection;
    try {
        check_tables(workload);
        workload.segments = whole_segments(segments.num_elements);
        check_tables(workload);
    } catch (const InputError& error) {
        objection = error.what();
    }
    arrays = std::move(workload.arrays);
    return objection;
}

}  // namespace

struct TimeBench::State {
    State(Backend& measured, TimeRequest asked)
        : backend(measured), timing(measured.timing()), request(std::move(asked))
    {}

    /// Returns the data of an operator and a layout. Keeps them, because they are measured repeatedly.
    const Data& prepare(const NamedOperator& named, const std::string& layout)
    {
        auto& place = prepared[named.name + " " + layout];
        if (place)
            return *place;
        auto data = std::make_unique<Data>();
        auto segments = segments_of(parse_layout(layout));
        const auto lengths = length_range(segments);
        data->longest = lengths.longest;
        if (!named.op.takes_empty_segments() && segments.num_segments != 0 && lengths.shortest == 0)
            data->objection = fmt::format("an empty segment has no result of {}", named.name);
        data->inputs = columns(named, segments, data->objection);
        if (segments.form == SegmentForm::offsets && lengths.shortest > 0 && needs_keys()) {
            data->keyed.emplace();
            data->keyed->op = named.op;
            data->keyed->segments = given_as(SegmentForm::keys, segments);
        }
        data->segmented.op = data->whole.op = named.op;
        data->whole.segments = whole_segments(segments.num_elements);
        data->segmented.segments = std::move(segments);
        place = std::move(data);
        return *place;
    }

    /// Loads the operator's arrays into the memory where they are measured. All layouts share the arrays if
    /// the operator has no table, because a column's value depends only on its index. Tables may depend on
    /// the segments.
    std::shared_ptr<const LoadedArrays> columns(const NamedOperator& named, const Segments& segments,
                                                std::string& objection)
    {
        const bool shares = std::ranges::none_of(named.op.parameters, &Parameter::table);
        auto& kept = shared[named.name];
        if (shares && kept)
            return kept;
        const auto everything = whole_segments(request.num_elements);
        auto arrays = request.make_arrays(named.op, shares ? everything : segments, request.seed);
        if (!shares && objection.empty())
            objection = table_objection(named.op, arrays, segments);
        auto inputs = timing->load(std::move(arrays));
        if (shares)
            kept = inputs;
        return inputs;
    }

    /// True if some stage supports keys but not offsets.
    [[nodiscard]] bool needs_keys() const
    {
        return std::ranges::any_of(request.stages, [](const Stage* stage) {
            return !served_form(*stage, SegmentForm::offsets) &&
                   served_form(*stage, SegmentForm::keys) == SegmentForm::keys;
        });
    }

    [[nodiscard]] Segments segments_of(const Layout& layout) const
    {
        auto n = request.num_elements;
        if (layout.kind == LayoutKind::uniform)
            n -= n % layout.uniform_length;
        if (n == 0)
            throw InputError(fmt::format("layout '{}': a segment has more than {}", print(layout),
                                         count_text(request.num_elements, "element")));
        return resolve(layout, n).segments;
    }

    [[nodiscard]] Problem problem_of(const NamedOperator& named, const Segments& segments) const
    {
        Problem problem(named.op, segments.form, segments.index_bits());
        problem.laws = named.laws;
        problem.target = backend.target();
        return problem;
    }

    /// Returns the stage's plan in its default configuration. `otherwise` is the same workload in another
    /// form of segments. The plan folds `otherwise` if it needs no conversion by the host and `workload`
    /// does.
    Choice choose(const NamedOperator& named, const Stage& stage, const Workload& workload,
                  const Workload* otherwise) const
    {
        const auto serves = [&](const Workload& own) {
            return served_form(stage, own.segments.form) == own.segments.form;
        };
        const auto& taken = !serves(workload) && otherwise && serves(*otherwise) ? *otherwise : workload;
        Choice choice{&stage, &taken, {}, {}};
        const auto problem = problem_of(named, taken.segments);
        if (const auto reason = request.catalogue.unmet(stage, problem)) {
            choice.reason = *reason;
            return choice;
        }
        const auto facts = plan_facts(problem, shape_of(taken.segments));
        choice.emitted = emit(problem, stage, default_configuration(stage, facts), request.catalogue);
        return choice;
    }

    PlacedWorkload& placed(Placement& placement, const Workload& workload)
    {
        auto& own = placement.placed[&workload];
        if (!own)
            own = timing->place(workload, placement.inputs);
        return *own;
    }

    double read_milliseconds(const Data& data)
    {
        const TimedLaunch reading = [&] { timing->read(data.inputs->bytes()); };
        return quartiles(timing->time_by_turns({&reading, 1}, 2, 5)[0]).median;
    }

    /// Estimates the stage's milliseconds per element within one long segment, from two short segments.
    double pace(const NamedOperator& named, const Stage& stage, const Data& data)
    {
        const auto key = named.name + " " + stage.name;
        const auto known = paces.find(key);
        if (known != paces.end())
            return known->second;
        double pace = 0;
        if (served_form(stage, SegmentForm::whole) &&
            data.whole.segments.num_elements > bench::kProbedLengths[1]) {
            std::array<double, 2> milliseconds = {};
            for (std::size_t i = 0; i < milliseconds.size(); ++i) {
                Workload workload;
                workload.op = named.op;
                workload.segments = whole_segments(bench::kProbedLengths[i]);
                const auto choice = choose(named, stage, workload, nullptr);
                if (!choice.emitted)
                    break;
                milliseconds[i] =
                    bench::milliseconds_of_prefix(*timing, workload, data.inputs, *choice.emitted);
            }
            pace = bench::pace_of(milliseconds);
        }
        return paces[key] = pace;
    }

    /// Returns a text such as "444 ms, 112 times as long as reading; the cut-off is 20 times".
    [[nodiscard]] std::string beyond(double milliseconds, double reading) const
    {
        return fmt::format("{:.3g} ms, {:.0f} times as long as reading; the cut-off is {:g} times",
                           milliseconds, milliseconds / reading, request.most_ratio);
    }

    /// Returns the reason why a segment of length `longest` alone would take too long; empty if it would not.
    /// Call this before a launch, because a running kernel cannot be stopped.
    std::string hopeless(const NamedOperator& named, const Stage& stage, const Data& data,
                         std::int64_t longest, double reading, bool has_cut_off)
    {
        const double least = pace(named, stage, data) * static_cast<double>(longest);
        if (least <= (has_cut_off ? request.most_ratio * reading : kMostPatienceMilliseconds))
            return {};
        return fmt::format("the longest segment alone would take {}", beyond(least, reading));
    }

    /// The two plans of a ratio: a stage's plan over a layout, and the plan whose time is the divisor.
    struct Pair {
        Choice own;
        std::optional<Choice> unsegmented;  ///< empty: the divisor is the time of a kernel that only reads
        std::string against;
    };

    Pair pair(const NamedOperator& named, const Stage& stage, const Data& data, bool is_whole, double reading)
    {
        Pair pair;
        const auto n = data.whole.segments.num_elements;
        pair.own.reason = data.objection;
        pair.against = is_whole ? kRead : kWhole;
        if (!data.objection.empty())
            return pair;
        pair.own = own_choice(named, stage, data, is_whole);
        if (pair.own.emitted)
            exclude(pair.own, hopeless(named, stage, data, is_whole ? n : data.longest, reading, true));
        if (is_whole || !pair.own.emitted)
            return pair;
        pair.unsegmented = choose(named, stage, data.whole, nullptr);
        if (pair.unsegmented->emitted && hopeless(named, stage, data, n, reading, true).empty())
            return pair;
        const auto problem = problem_of(named, data.whole.segments);
        const auto& other = request.catalogue.rule_of_thumb(problem, shape_of(data.whole.segments));
        pair.unsegmented = choose(named, other, data.whole, nullptr);
        pair.against = other.name + " " + kWhole;
        return pair;
    }

    /// Returns the pair whose divisor the baseline's text `against` names. Applies no cut-off.
    Pair pair_against(const NamedOperator& named, const Stage& stage, const Data& data, bool is_whole,
                      const std::string& against, double reading)
    {
        Pair pair;
        const auto n = data.whole.segments.num_elements;
        pair.against = against;
        pair.own = own_choice(named, stage, data, is_whole);
        if (pair.own.emitted)
            exclude(pair.own, hopeless(named, stage, data, is_whole ? n : data.longest, reading, false));
        if (is_whole || !pair.own.emitted)
            return pair;
        const auto name = against == kWhole ? stage.name : against.substr(0, against.find(' '));
        const auto& stages = request.catalogue.stages();
        const auto divisor = std::ranges::find(stages, name, &Stage::name);
        if (divisor == stages.end()) {
            exclude(pair.own, "there is no stage " + name);
            return pair;
        }
        pair.unsegmented = choose(named, *divisor, data.whole, nullptr);
        exclude(pair.own, pair.unsegmented->emitted ? hopeless(named, *divisor, data, n, reading, false)
                                                    : pair.unsegmented->reason);
        return pair;
    }

    /// Returns the stage's plan for the data, or for their unsegmented form if `is_whole` is true.
    Choice own_choice(const NamedOperator& named, const Stage& stage, const Data& data, bool is_whole) const
    {
        return is_whole ? choose(named, stage, data.whole, nullptr)
                        : choose(named, stage, data.segmented, data.keyed ? &*data.keyed : nullptr);
    }

    /// Removes a plan and stores `reason`, if `reason` is not empty.
    static void exclude(Choice& choice, std::string reason)
    {
        if (reason.empty())
            return;
        choice.reason = std::move(reason);
        choice.emitted.reset();
    }

    /// Returns the ratios of one round. Returns none, and sets `reason`, if a launch exceeds the cut-off.
    std::vector<double> measure(const Pair& pair, const Data& data, Placement& placement, double reading,
                                const Effort& effort, std::string& reason)
    {
        const auto launch = timing->prepare(placed(placement, *pair.own.workload), *pair.own.emitted).launch;
        auto first = timing->once(launch);
        const auto is_over = [&] { return effort.has_cut_off && first > request.most_ratio * reading; };
        if (is_over() && first < kMostLoadingMilliseconds)
            first = timing->once(launch);
        if (is_over()) {
            reason = "one launch took " + beyond(first, reading);
            return {};
        }
        TimedLaunch divisor = [&] { timing->read(data.inputs->bytes()); };
        if (pair.unsegmented)
            divisor =
                timing->prepare(placed(placement, *pair.unsegmented->workload), *pair.unsegmented->emitted)
                    .launch;
        const std::array launches = {launch, divisor};
        const bool is_long = !effort.has_cut_off && first > kLongMilliseconds;
        const auto times = timing->time_by_turns(launches, effort.dropped, is_long ? 1 : effort.samples);
        std::vector<double> ratios;
        for (std::size_t i = 0; i < times[0].size(); ++i)
            ratios.push_back(times[0][i] / times[1][i]);
        return ratios;
    }

    /// Measures some stages over one layout, in all rounds.
    void measure(const NamedOperator& named, const std::string& layout,
                 const std::vector<const Stage*>& stages, std::vector<TimeCase>& cases)
    {
        const bool is_whole = layout == kWhole;
        const auto& data = prepare(named, layout);
        const double reading = read_milliseconds(data);
        std::vector<Pair> pairs;
        const auto first = cases.size();
        for (const auto* stage : stages) {
            TimeCase one;
            one.op = named.name;
            one.stage = stage->name;
            one.layout = layout;
            attempt(one, [&] { pairs.push_back(pair(named, *stage, data, is_whole, reading)); });
            if (!one.reason.empty())
                pairs.push_back({{stage, nullptr, {}, one.reason}, {}, is_whole ? kRead : kWhole});
            one.against = pairs.back().against;
            one.reason = pairs.back().own.reason;
            if (pairs.back().own.emitted)
                one.configuration = segfold::print(pairs.back().own.emitted->configuration);
            cases.push_back(std::move(one));
        }
        measure_rounds(pairs, data, reading, {request.rounds, request.samples, request.dropped},
                       std::span(cases).subspan(first));
    }

    /// Measures cases over the same data, in all rounds. Each round has its own memory.
    void measure_rounds(const std::vector<Pair>& pairs, const Data& data, double reading,
                        const Effort& effort, std::span<TimeCase> cases)
    {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        const auto has_time = [&] {
            return std::chrono::duration<double>(Clock::now() - start).count() < effort.seconds;
        };
        Placement placement;
        for (int round = 0; round < effort.rounds && has_time(); ++round) {
            // Makes the next placement before it frees the last one, so that the two have different
            // addresses.
            Placement next{timing->copy(*data.inputs), {}};
            placement = std::move(next);
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                auto& one = cases[i];
                if (!one.reason.empty())
                    continue;
                attempt(one, [&] {
                    auto ratios = measure(pairs[i], data, placement, reading, effort, one.reason);
                    if (!ratios.empty())
                        one.rounds.push_back(std::move(ratios));
                });
                if (!one.reason.empty())
                    one.rounds.clear();
            }
        }
    }

    /// Returns the operator and stage of a case that is to be measured again. If the case has no times,
    /// discards the stage's pace, so that the pace is measured again too.
    std::pair<const NamedOperator*, const Stage*> again(const TimeCase& one)
    {
        const auto named = std::ranges::find(request.ops, one.op, &NamedOperator::name);
        const auto stage = std::ranges::find(request.stages, one.stage, &Stage::name);
        if (named == request.ops.end() || stage == request.stages.end())
            throw InternalError(
                fmt::format("{} of {} is to be measured again and was not asked for", one.stage, one.op));
        if (one.rounds.empty())
            paces.erase(named->name + " " + (*stage)->name);
        return {&*named, *stage};
    }

    /// Runs `work`. A DeviceError becomes the reason why the case is left out. Throws DeviceError if the
    /// device refuses further work.
    template <class Work>
    void attempt(TimeCase& one, Work work)
    {
        try {
            work();
        } catch (const DeviceError& error) {
            one.reason = error.what();
        }
        timing->synchronize();
    }

    Backend& backend;
    std::unique_ptr<Timing> timing;
    TimeRequest request;
    std::map<std::string, double> paces;  ///< milliseconds per element, keyed by operator and stage
    std::map<std::string, std::unique_ptr<Data>> prepared;              ///< keyed by operator and layout
    std::map<std::string, std::shared_ptr<const LoadedArrays>> shared;  ///< keyed by operator
};

TimeBench::TimeBench(Backend& backend, TimeRequest request)
    : state_(std::make_unique<State>(backend, std::move(request)))
{}

TimeBench::~TimeBench() = default;

std::vector<TimeCase> TimeBench::measure(const std::function<void(const std::string&)>& progress)
{
    std::vector<TimeCase> cases;
    std::size_t done = 0;
    for (const auto& named : state_->request.ops) {
        std::vector<std::string> layouts = {kWhole};
        for (const auto& layout : state_->request.layouts)
            if (layout.kind != LayoutKind::whole)
                layouts.push_back(print(layout));
        for (const auto& layout : layouts) {
            progress(fmt::format("{} over {} ({} of {})", named.name, layout, ++done,
                                 state_->request.ops.size() * layouts.size()));
            state_->measure(named, layout, state_->request.stages, cases);
        }
    }
    return cases;
}

TimingFacts TimeBench::facts() const { return state_->timing->facts(); }

Rounds TimeBench::measure(const TimeCase& one)
{
    const auto [named, stage] = state_->again(one);
    std::vector<TimeCase> cases;
    state_->measure(*named, one.layout, {stage}, cases);
    return cases.front().rounds;
}

Rounds TimeBench::measure_slow(const TimeCase& one)
{
    const auto [named, stage] = state_->again(one);
    const auto& data = state_->prepare(*named, one.layout);
    const double reading = state_->read_milliseconds(data);
    auto again = one;
    again.rounds.clear();
    again.reason = data.objection;
    std::vector<State::Pair> pairs(1);
    if (again.reason.empty())
        state_->attempt(again, [&] {
            pairs[0] = state_->pair_against(*named, *stage, data, one.layout == kWhole, one.against, reading);
        });
    if (again.reason.empty())
        again.reason = pairs[0].own.reason;
    state_->measure_rounds(pairs, data, reading, kSlowEffort, {&again, 1});
    return again.rounds;
}

}  // namespace segfold::regress
