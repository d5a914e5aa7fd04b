// Plan::measure() times the best-ranked stages on the caller's arrays.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/session/device_plan.h"
#include "runtime/session/plan_state.h"

namespace segfold {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Temporary arrays, on the host or on the GPU, for everything that a run writes. They receive the results
/// and, for flags and keys, the number and the keys of segments.
class ScratchResults {
public:
    ScratchResults(const Plan::State& state, const SegmentsView& segments) : segments_(segments)
    {
        const bool is_found = segfold::is_found(state.sizes.form);
        const auto num_segments = is_found ? state.sizes.sizes.num_elements : state.sizes.sizes.num_segments;
        const auto& op = state.parts->op;
        const auto& sizes = state.sizes.sizes;
        const auto fields = returned_fields(op);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const bool is_output = i + op.outputs.size() >= fields.size();
            const auto length = sizes.num_features * (is_output ? sizes.num_elements : num_segments);
            views_.push_back(add(state, fields[i].type, length));
        }
        if (!is_found)
            return;
        segments_.num_found = add(state, index_type(sizes.index_bits), 1);
        if (state.sizes.form == SegmentForm::keys)
            segments_.found_keys = add(state, segments.first.type, sizes.num_elements);
    }

    /// The segments. Arrays that a run writes are temporary arrays instead of the caller's.
    [[nodiscard]] const SegmentsView& segments() const { return segments_; }
    [[nodiscard]] std::span<const MutableArrayView> views() const { return views_; }
    /// Copies all results to the host and returns their bytes.
    [[nodiscard]] std::vector<std::byte> bytes() const
    {
        std::vector<std::byte> all;
        for (const auto& array : host_)
            all.insert(all.end(), array.begin(), array.end());
        for (const auto& array : device_) {
            const auto begin = all.size();
            all.resize(begin + array.bytes());
            array.copy_out(std::span(all).subspan(begin));
        }
        return all;
    }

private:
    MutableArrayView add(const Plan::State& state, Type type, std::int64_t length)
    {
        const auto bytes = static_cast<std::size_t>(length) * size_bytes(type);
        MutableArrayView view;
        view.type = type;
        view.length = length;
        if (state.is_on_device) {
            device_.emplace_back(*state.parts->backend->context(), bytes);
            device_.back().zero();  // for flags and keys, runs write only the first entries
            view.place = Place::device;
            view.data = reinterpret_cast<std::byte*>(device_.back().address());
        } else {
            host_.emplace_back(bytes);
            view.data = host_.back().data();
        }
        return view;
    }

    SegmentsView segments_;
    std::deque<cuda::DeviceBuffer> device_;
    std::deque<std::vector<std::byte>> host_;
    std::vector<MutableArrayView> views_;
};

/// Times runs of a plan with the host's clock, including the wait for results.
class Stopwatch {
public:
    Stopwatch(std::function<void()> run, std::function<void()> wait)
        : run_(std::move(run)), wait_(std::move(wait))
    {
        batch(1);  // warms up: loads kernels, touches memory
    }

    /// Times a few batches, each long enough for the clock. Returns the least seconds per run.
    double seconds()
    {
        constexpr double kBatchSeconds = 1e-3;
        constexpr int kBatches = 5, kMostRuns = 64;
        const double once = batch(1);
        const int runs = std::clamp(static_cast<int>(kBatchSeconds / std::max(once, 1e-9)), 1, kMostRuns);
        double least = once;
        for (int i = 0; i < kBatches; ++i)
            least = std::min(least, batch(runs) / runs);
        return least;
    }

private:
    double batch(int runs)
    {
        const auto start = Clock::now();
        for (int i = 0; i < runs; ++i)
            run_();
        wait_();
        return seconds_since(start);
    }

    std::function<void()> run_, wait_;
};

/// Copies an array of segments to the host, after all work queued on the GPU.
Array on_host(const ArrayView& view, const cuda::Context* context)
{
    Array array(view.type, static_cast<std::size_t>(view.length));
    if (view.length == 0)
        return array;
    if (view.place == Place::device) {
        context->synchronize();
        const cuda::CurrentContext current(*context);
        cuda::check(cuda::driver().cuMemcpyDtoH(array.data(), reinterpret_cast<std::uint64_t>(view.data),
                                                array.bytes()),
                    "cuMemcpyDtoH");
    } else {
        std::memcpy(array.data(), view.data, array.bytes());
    }
    return array;
}

std::int64_t segment_number(const Array& array, std::size_t i)
{
    return array.type() == Type::i64 ? array.as<std::int64_t>()[i] : array.as<std::int32_t>()[i];
}

}  // namespace

std::int64_t longest_of(const SegmentsView& segments, const cuda::Context* context)
{
    const auto kind = segments.kind;
    if (kind != LayoutKind::offsets && kind != LayoutKind::lengths && kind != LayoutKind::ranges)
        return 0;
    const auto first = on_host(segments.first, context);
    const auto second = kind == LayoutKind::ranges ? on_host(segments.second, context) : Array();
    const auto count = first.length() - (kind == LayoutKind::offsets && first.length() != 0 ? 1 : 0);
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < count; ++i)
        longest = std::max(longest, kind == LayoutKind::lengths ? segment_number(first, i)
                                    : kind == LayoutKind::offsets
                                        ? segment_number(first, i + 1) - segment_number(first, i)
                                        : segment_number(second, i) - segment_number(first, i));
    return longest;
}

Plan::State::Maker Plan::State::maker(const Point& point, const SegmentsView& segments) const
{
    // The function holds copies, because another thread may call it while the plan is in use.
    return [parts = parts, stage = point.stage, segments, longest = known_longest,
            num_elements = sizes.sizes.num_elements] {
        auto made_of = *parts;
        made_of.options.request.stage = stage;
        made_of.options.request.measured_stages = 1;
        made_of.options.longest = longest;
        auto made = std::make_unique<State>(std::move(made_of), segments, num_elements);
        made->parts = parts;  // the stage was named for this choice only
        return made;
    };
}

std::vector<Point> Plan::State::candidates(int num_stages) const
{
    return spot_candidates({choice()->stage->name, choice()->emitted.configuration},
                           with_shape(basis->facts, shape_for(sizes)), basis->problem,
                           *parts->chooser.catalogue, num_stages);
}

void Plan::State::begin_rivals(const SegmentsView& segments, int num_stages)
{
    if (num_stages < 2 || !choice() || !parts->options.request.is_open())
        return;
    const auto points = candidates(num_stages);
    const auto& chooser = parts->chooser;
    if (chooser.spots &&
        (known = chooser.spots->fastest(chooser.question(basis->problem, shape_for(sizes)), points)))
        return;
    for (const auto& point : std::span(points).subspan(1))
        rivals.push_back({point, std::async(std::launch::async, maker(point, segments))});
}

void Plan::State::take(std::unique_ptr<State>& place, std::unique_ptr<State> kept, PlanSource source,
                       std::string taken)
{
    auto choice = *kept->choice();
    choice.is_asked = false;
    choice.source = source;
    auto explanation = *kept->explanation;
    explanation.lookup = place->explanation->lookup;
    explanation.taken =
        taken.empty() ? fmt::format("{}, {}", choice.text(), choice.chosen_by()) : std::move(taken);
    kept->program = kept->basis->programs->add(std::move(choice));
    kept->explanation = std::make_shared<const Explanation>(std::move(explanation));
    kept->was_measured = true;
    place = std::move(kept);
}

void Plan::measure(std::span<const ArrayView> inputs, const SegmentsView& segments, CUstream_st* stream,
                   int num_stages)
{
    require_measured_stages(num_stages);
    auto& first = state();
    if (first.was_captured)
        throw InputError(fmt::format(
            "the plan of {} was captured into a graph, whose results would no longer have the plan's bits; "
            "measure before the first capture, or a copy()",
            first.parts->op.name));
    if (first.was_measured)
        return;
    if (first.rivals.empty() && !first.known)
        first.begin_rivals(segments, num_stages);
    if (first.known) {
        const auto is_first = first.known->stage == stage();
        State::take(state_, is_first ? std::make_unique<State>(first) : first.maker(*first.known, segments)(),
                    PlanSource::spot_record);
        return;
    }
    if (first.rivals.empty())
        return;
    std::vector<Plan> plans;
    std::vector<SpotTrial> trials;
    plans.push_back(copy());
    trials.push_back({{stage(), first.choice()->emitted.configuration}, {}});
    for (auto& [point, rival] : std::exchange(first.rivals, {})) {
        try {
            auto made = rival.get();
            if (std::ssize(plans) < num_stages) {
                plans.emplace_back(std::move(made));
                trials.push_back({point, {}});
            }
        } catch (const Error& error) {  // the stage lacks memory or does not compile
            trials.push_back({point, {MeasurementOutcome::resources, 0, {}, error.what()}});
        }
    }
    // Move stages that cannot run to the end, so that trials[i] belongs to plans[i].
    std::ranges::stable_partition(trials, [](const SpotTrial& trial) {
        return trial.measurement.outcome == MeasurementOutcome::correct;
    });

    const auto* context = first.parts->backend->context();
    const ScratchResults results(first, segments);
    const auto shape = first.shape_for(first.sizes);
    const bool are_compared = gives_same_bits(first.parts->op, first.basis->laws);
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Stopwatch watch([&] { plans[i].run(inputs, results.segments(), results.views(), stream); },
                        [&] {
                            if (context != nullptr)
                                context->synchronize();
                        });
        trials[i].measurement.milliseconds = std::max(watch.seconds() * 1e3, kLeastMilliseconds);
        trials[i].measurement.samples = {trials[i].measurement.milliseconds};
        if (!are_compared)
            continue;
        auto given = results.bytes();
        if (i == 0)
            expected = std::move(given);
        else if (given != expected)
            throw InternalError(fmt::format("stages {} and {} give different results of {}", plans[0].stage(),
                                            plans[i].stage(), first.parts->op.name));
    }
    const auto best = *fastest_of(trials);
    const auto& chooser = first.parts->chooser;
    if (chooser.spots)
        chooser.spots->keep(chooser.question(first.basis->problem, shape), first.explanation->traffic.total(),
                            trials);
    // The copy is not tied to a stream yet.
    State::take(state_, std::make_unique<State>(*plans[best].state_), PlanSource::measured_here,
                measured_text(trials[best].point, trials));
}

}  // namespace segfold
