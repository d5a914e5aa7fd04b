// How fast the back end cpu folds, beside the rate at which all cores read memory and beside Thrust on
// OpenMP.
//
//     cpu_benchmark [ELEMENTS [ROUNDS [LAYOUT ...]]]        2^24 elements, 15 rounds and all layouts without
//     them
//
// Each round reads the column once, runs each stage, and runs thrust::reduce_by_key with the operator as C++,
// compiled with -O3 for this processor, one after the other; before each of them all cores read twice as many
// bytes as the last cache holds, so that the column comes from memory. Prints for each layout the share of
// the read rate that the plan of the rule of thumb reaches (the median of the rounds' shares, each by the
// reading of its round), the middle half of the rounds as a part of it, the same share by the time that
// threads were on a core, and the share of the best times; then the shares of the other stages, and how many
// times as long Thrust takes. Shares count compulsory bytes: columns, offsets and results, each once; Thrust
// reads keys instead of offsets and has the same bytes counted.
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_OMP
#define THRUST_WRAPPED_NAMESPACE segfold_cpu_benchmark  // the library has a Thrust of its own
#include <fmt/format.h>
#include <omp.h>
#include <thrust/functional.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/system/omp/execution_policy.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "codegen/catalogue.h"
#include "dsl/layout.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/backends/cpu/program.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/backends/host_timing.h"
#include "runtime/data/resolve.h"
#include "runtime/data/shape.h"
#include "runtime/session/choice/traffic.h"
#include "runtime/support/processes/thread_pool.h"

namespace {

using namespace segfold;
using Clock = std::chrono::steady_clock;

/// Seconds of all threads on a core, which others on the machine do not lengthen as they lengthen the
/// clock's.
double processor_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Reads floats as fast as a core can: eight vectors of sums.
float read(const float* values, std::int64_t count)
{
    using Vector = float __attribute__((vector_size(64), aligned(4)));
    Vector sums[8] = {};
    for (std::int64_t i = 0; i + 128 <= count; i += 128)
        for (int k = 0; k < 8; ++k)
            sums[k] += *reinterpret_cast<const Vector*>(values + i + k * 16);
    float total = 0;
    for (const auto& vector : sums)
        for (int lane = 0; lane < 16; ++lane)
            total += vector[lane];
    return total;
}

float read_by_all(std::span<const float> values)
{
    constexpr std::int64_t kPart = 1 << 18;
    const auto count = std::ssize(values);
    std::vector<float> sums(static_cast<std::size_t>((count + kPart - 1) / kPart));
    ThreadPool::shared().run(std::ssize(sums), [&](std::int64_t part) {
        sums[static_cast<std::size_t>(part)] =
            read(values.data() + part * kPart, std::min(kPart, count - part * kPart));
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

/// Fills the last cache with values that nobody folds.
void empty_cache()
{
    static const std::vector<float> others(
        static_cast<std::size_t>(std::max<std::int64_t>(last_cache_bytes(), 32 << 20)) / 2, 1.0F);
    [[maybe_unused]] static volatile float sink = 0;
    sink = read_by_all(others);
}

struct Times {
    std::vector<double> seconds, processor;

    template <class Work>
    void take(const Work& work)
    {
        empty_cache();
        const double before = processor_seconds();
        const auto begin = Clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
        processor.push_back(processor_seconds() - before);
    }
    /// The value that `part` of the rounds are below.
    [[nodiscard]] double quantile(double part) const
    {
        auto sorted = seconds;
        std::ranges::sort(sorted);
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size()))];
    }
    [[nodiscard]] double median() const { return quantile(0.5); }
    [[nodiscard]] double best() const { return std::ranges::min(seconds); }
};

/// The state of mean_variance, as the standard operator has it.
struct Moments {
    int n;
    float mean, m2;
};

struct LiftMoments {
    Moments operator()(float x) const { return {1, x, 0}; }
};

struct CombineMoments {
    Moments operator()(const Moments& a, const Moments& b) const
    {
        const int total = a.n + b.n;
        const float delta = b.mean - a.mean;
        const float share = total == 0 ? 0.0F : static_cast<float>(b.n) / static_cast<float>(total);
        return {total, a.mean + delta * share, a.m2 + b.m2 + delta * delta * static_cast<float>(a.n) * share};
    }
};

struct Row {
    std::string layout;
    Segments segments;
};

void run_thrust(bool is_sum, const std::vector<int>& keys, std::span<const float> values,
                std::vector<float>& sums, std::vector<Moments>& moments)
{
    namespace library = THRUST_NS_QUALIFIER;
    const auto policy = library::omp::par;
    if (is_sum)
        library::reduce_by_key(policy, keys.begin(), keys.end(), values.begin(),
                               library::make_discard_iterator(), sums.begin());
    else
        library::reduce_by_key(
            policy, keys.begin(), keys.end(), library::make_transform_iterator(values.begin(), LiftMoments()),
            library::make_discard_iterator(), moments.begin(), library::equal_to<int>(), CombineMoments());
}

void measure(const Operator& op, const Row& row, std::span<const float> values, int rounds)
{
    const auto& segments = row.segments;
    const auto& catalogue = Catalogue::native();
    const Problem problem(op, segments.form, segments.index_bits());
    const auto shape = shape_of(segments);
    const auto facts = plan_facts(problem, shape);
    const auto& chosen = catalogue.rule_of_thumb(problem, shape);
    std::vector<std::string> names;
    std::vector<cpu::Program> plans;
    for (const auto& stage : catalogue.stages())
        if (!catalogue.unmet(stage, problem) && (&stage == &chosen || op.state.size() == 1)) {
            names.push_back(stage.name);
            plans.emplace_back(op, emit(problem, stage, default_configuration(stage, facts), catalogue),
                               sizes_of(segments));
        }
    const auto num_segments = static_cast<std::size_t>(segments.num_segments);
    std::vector<std::vector<float>> results(op.results.size(), std::vector<float>(num_segments));
    const std::vector<MutableArrayView> outputs(results.begin(), results.end());
    for (auto& plan : plans) {
        plan.bind_input(0, values);
        plan.bind_segments(segments);
    }

    std::vector<int> keys(values.size());
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        std::fill(keys.begin() + segments.begin(s), keys.begin() + segments.end(s), static_cast<int>(s));
    std::vector<float> sums(num_segments);
    std::vector<Moments> moments(num_segments);

    Times reading, thrust_times;
    std::vector<Times> taken(plans.size());
    volatile float sink = 0;
    for (int round = 0; round <= rounds; ++round) {
        if (round == 1) {  // the first one only warms up
            reading = {}, thrust_times = {};
            taken.assign(plans.size(), {});
        }
        reading.take([&] { sink = read_by_all(values); });
        for (std::size_t i = 0; i < plans.size(); ++i)
            taken[i].take([&] { plans[i].run(outputs); });
        thrust_times.take([&] { run_thrust(op.state.size() == 1, keys, values, sums, moments); });
        // OpenMP's threads wait for their next loop on the cores for some milliseconds.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto traffic = compulsory_traffic(op, segments);
    const double bytes = static_cast<double>(traffic.total());
    const double column = static_cast<double>(values.size() * sizeof(float));
    const auto share = [&](double seconds, double read_seconds) {
        return bytes / seconds / (column / read_seconds);
    };
    std::string others;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Times shares, processor_shares;
        for (std::size_t round = 0; round < taken[i].seconds.size(); ++round) {
            shares.seconds.push_back(share(taken[i].seconds[round], reading.seconds[round]));
            processor_shares.seconds.push_back(share(taken[i].processor[round], reading.processor[round]));
        }
        if (names[i] == chosen.name)
            std::printf(
                "%-15s %-18s %-19s %5.1f GB/s  share %.2f  spread %.2f  by processor time %.2f  best %.2f  "
                "Thrust %5.2f times",
                op.name.c_str(), row.layout.c_str(), names[i].c_str(), column / reading.median() / 1e9,
                shares.median(), (shares.quantile(0.75) - shares.quantile(0.25)) / shares.median(),
                processor_shares.median(), share(taken[i].best(), reading.best()),
                thrust_times.median() / taken[i].median());
        else
            others += fmt::format("  {} {:.2f}", names[i], shares.median());
    }
    std::printf("%s\n", others.c_str());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::int64_t num_elements = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 24;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    Array column(Type::f32, static_cast<std::size_t>(num_elements));
    const auto values = column.as<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 7 % 5);
    std::vector<std::string> layouts(argv + std::min(argc, 3), argv + argc);
    if (layouts.empty())
        layouts = {"whole",
                   "uniform=1",
                   "uniform=2",
                   "uniform=4",
                   "uniform=8",
                   "uniform=32",
                   "uniform=128",
                   "uniform=1024",
                   "uniform=65536",
                   "constant:length=4",
                   "constant:length=32",
                   "geometric:mean=4",
                   "geometric:mean=32",
                   "zipf:exponent=1.9",
                   "giant:half"};
    std::printf("%lld elements of f32, %d rounds, %s, %d threads, %s\n", static_cast<long long>(num_elements),
                rounds, cpu::processor_name().c_str(), num_usable_cores(), cpu::compiler_version().c_str());
    for (const auto* operator_name : {"sum", "mean_variance"})
        for (const auto& layout : layouts) {
            try {
                const Row row{layout, resolve(parse_layout(layout), num_elements).segments};
                measure(standard_operator(operator_name, Type::f32), row, values, rounds);
            } catch (const std::exception& error) {
                std::printf("%s %s: %s\n", operator_name, layout.c_str(), error.what());
            }
        }
}
