// Plan::measure(): times the first stages of the measured order on the caller's arrays.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
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

/// Temporary result arrays of a plan, in memory of the host or of the GPU.
class ScratchResults {
public:
    ScratchResults(const Plan::State& state, std::int64_t num_segments)
    {
        const auto& op = state.parts->op;
        const auto& sizes = state.sizes.sizes;
        const auto fields = returned_fields(op);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const bool is_output = i + op.outputs.size() >= fields.size();
            const auto length = sizes.num_features * (is_output ? sizes.num_elements : num_segments);
            const auto bytes = static_cast<std::size_t>(length) * size_bytes(fields[i].type);
            MutableArrayView view;
            view.type = fields[i].type;
            view.length = length;
            if (state.is_on_device) {
                device_.emplace_back(*state.parts->backend->context(), bytes);
                device_.back().zero();  // for flags and keys, runs write only the first results
                view.place = Place::device;
                view.data = reinterpret_cast<std::byte*>(device_.back().address());
            } else {
                host_.emplace_back(bytes);
                view.data = host_.back().data();
            }
            views_.push_back(view);
        }
    }

    [[nodiscard]] std::span<const MutableArrayView> views() const { return views_; }
    /// The bytes of all results, copied to the host.
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
    std::vector<cuda::DeviceBuffer> device_;
    std::vector<std::vector<std::byte>> host_;
    std::vector<MutableArrayView> views_;
};

/// Times runs of a plan by the host's clock, including the wait for the results.
class Stopwatch {
public:
    Stopwatch(std::function<void()> run, std::function<void()> wait)
        : run_(std::move(run)), wait_(std::move(wait))
    {
        batch(1);  // loads kernels and touches memory
    }

    /// Returns the least seconds per run of a few batches, each long enough for the clock.
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

/// Copies an array of segments to the host, after all that was queued on the GPU.
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

void Plan::State::begin_rivals(const SegmentsView& segments, int num_stages)
{
    if (num_stages < 2 || !choice() || !parts->options.request.is_open())
        return;
    const auto facts = with_shape(basis->facts, shape_for(sizes));
    std::vector<std::string> names;
    for (const auto& one : parts->chooser.catalogue->ranked(facts, basis->problem))
        if (std::ssize(names) < num_stages - 1 && one.stage->name != choice()->stage->name)
            names.push_back(one.stage->name);
    for (auto& name : names)
        rivals.push_back(std::async(
            std::launch::async,
            [made_of = *parts, name = std::move(name), segments, num_elements = sizes.sizes.num_elements,
             longest = known_longest]() mutable -> std::unique_ptr<State> {
                made_of.options.request.stage = std::move(name);
                made_of.options.measured_stages = 1;
                made_of.options.longest = longest;
                try {
                    return std::make_unique<State>(std::move(made_of), segments, num_elements);
                } catch (const Error&) {  // it lacks memory, or does not compile
                    return nullptr;
                }
            }));
}

void Plan::measure(std::span<const ArrayView> inputs, const SegmentsView& segments, CUstream_st* stream,
                   int num_stages)
{
    if (num_stages < 1)
        throw InputError(fmt::format("a plan measures {} stages; it measures 1 or more", num_stages));
    auto& first = state();
    if (first.rivals.empty())
        first.begin_rivals(segments, num_stages);
    if (first.rivals.empty())
        return;
    std::vector<Plan> plans;
    plans.push_back(copy());
    for (auto& one : std::exchange(first.rivals, {}))
        if (auto rival = one.get(); rival && std::ssize(plans) < num_stages)
            plans.emplace_back(std::move(rival));

    const auto* context = first.parts->backend->context();
    const auto num_segments =
        is_found(first.sizes.form) ? first.sizes.sizes.num_elements : first.sizes.sizes.num_segments;
    const ScratchResults results(first, num_segments);
    const bool are_compared = is_exact(first.parts->op);
    std::vector<std::byte> expected;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    std::string told;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Stopwatch watch([&] { plans[i].run(inputs, segments, results.views(), stream); },
                        [&] {
                            if (context != nullptr)
                                context->synchronize();
                        });
        const double seconds = watch.seconds();
        told += fmt::format("{}{} {:.4g} us", i == 0 ? "" : ", ", plans[i].stage(), seconds * 1e6);
        if (are_compared) {
            auto given = results.bytes();
            if (i == 0)
                expected = std::move(given);
            else if (given != expected)
                throw InternalError(fmt::format("stages {} and {} give different results of {}",
                                                plans[0].stage(), plans[i].stage(), first.parts->op.name));
        }
        if (seconds < least) {
            least = seconds;
            best = i;
        }
    }
    auto kept = std::make_unique<State>(*plans[best].state_);  // a copy is not tied to a stream yet
    auto explanation = *kept->explanation;
    explanation.lookup = first.explanation->lookup;
    explanation.taken = fmt::format("{}, measured here: {}", kept->choice()->text(), told);
    kept->explanation = std::make_shared<const Explanation>(std::move(explanation));
    state_ = std::move(kept);
}

}  // namespace segfold
