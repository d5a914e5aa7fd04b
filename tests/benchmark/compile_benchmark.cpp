// What a plan costs before its first launch: compiled, loaded from the disk by a new process, and beside it
// NVRTC on a source that includes a block header of CUB.
//
// Prints one line for each, medians with the lowest and highest; takes about 30 seconds. Loading onto a GPU
// is timed too where there is one. Called as "compile_benchmark --warm STAGE" it is such a new process.
//
// "compile_benchmark --every" compiles every stage for every standard operator that it can serve, of the
// operator's usual type where it can serve that, over offsets or else the stage's first form, three times
// each. A line for each stage; where there is a GPU, loading is part of all times. Takes some minutes.
//
// "compile_benchmark --batches" has plans compiled as a tuner has: 40 configurations of each stage, drawn at
// random, for every standard operator that it can serve, a sum's also each by itself; and what searches of 40
// and of 400 evaluations ask for, were the plan closest to the rule of thumb's the fastest. On all cores that
// the process may use; nothing comes from the disk.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/ahead.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/driver/module.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/measure/tune/search.h"
#include "runtime/measure/tune/search_space.h"
#include "runtime/measure/tune/shared_texts.h"
#include "runtime/support/processes/process.h"
#include "runtime/support/random.h"

namespace {

using namespace segfold;
namespace fs = std::filesystem;

constexpr int kColdRuns = 15, kWarmRuns = 15, kHeaderRuns = 3;
constexpr const char* kStages[] = {"thread_per_segment", "warp_per_segment", "block_per_segment",
                                   "warp_stream"};
constexpr int kRunsOfEvery = 3;
constexpr std::size_t kDrawn = 40;  // as many plans as a quick search measures
constexpr double kLong = 60;        // milliseconds
constexpr const char* kWithHeader = R"(#include <cub/block/block_reduce.cuh>
extern "C" __global__ void fold(const float* values, float* results)
{
    using Reduce = cub::BlockReduce<float, 256>;
    __shared__ typename Reduce::TempStorage storage;
    const float sum = Reduce(storage).Sum(values[blockIdx.x * 256 + threadIdx.x]);
    if (threadIdx.x == 0)
        results[blockIdx.x] = sum;
}
)";

template <class Work>
double milliseconds(Work work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median_of(std::vector<double> times)
{
    std::ranges::sort(times);
    return times[times.size() / 2];
}

/// Prints and gives the median.
double report(const std::string& what, std::vector<double> times)
{
    std::ranges::sort(times);
    const double median = times[times.size() / 2];
    std::printf("%-58s %9.2f ms  (%.2f to %.2f, %zu runs)\n", what.c_str(), median, times.front(),
                times.back(), times.size());
    return median;
}

Emitted plan(const std::string& name)
{
    const auto& stage = Catalogue::standard().stage(name);
    const Problem problem(standard_operator("sum_f32"), SegmentForm::offsets, 32);
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)));
}

/// The GPU's architecture; without one that of an H100, so that the compiler can be timed.
std::string architecture()
{
    const auto gpus = cuda::devices();
    return gpus.empty() ? "sm_90" : cuda::architecture_for(gpus[0].compute_major, gpus[0].compute_minor);
}

cuda::CompileRequest request_of(const std::string& stage)
{
    return {plan(stage).source, stage + ".cu", architecture(), {}};
}

/// What comes after CUDA's own start: from the emitted text to a kernel that can be launched. Prints the
/// milliseconds.
int run_warm(const std::string& stage)
{
    const auto emitted = plan(stage);
    const bool has_gpu = !cuda::devices().empty();
    std::optional<cuda::Context> context;
    if (has_gpu)
        context.emplace();
    bool is_from_disk = false;
    const double time = milliseconds([&] {
        const auto compiled = cuda::load_or_compile({emitted.source, stage + ".cu", architecture(), {}});
        is_from_disk = compiled.is_from_disk;
        if (context)
            (void)cuda::Module(*context, compiled, stage).kernel(emitted.launches[0].kernel);
    });
    std::printf("%.6f\n", time);
    return is_from_disk ? 0 : 1;
}

double time_warm_process(const char* program, const std::string& stage)
{
    const auto result = run_process({program, "--warm", stage});
    if (result.status != 0)
        throw DeviceError(fmt::format("a warm process ended with {}: {}", result.status, result.output));
    return std::strtod(result.output.c_str(), nullptr);
}

void compare()
{
    char program[4096] = {};
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        throw InternalError("/proc/self/exe cannot be read");
    std::string folder = (fs::temp_directory_path() / "segfold-XXXXXX").string();
    if (!mkdtemp(folder.data()))
        throw InputError(fmt::format("{} cannot be made", folder));
    unsetenv("SEGFOLD_CACHE");
    setenv("SEGFOLD_CACHE_DIR", folder.c_str(), 1);
    std::printf("architecture %s\n", architecture().c_str());
    report("opening NVRTC and its first compilation",
           {milliseconds([] { (void)cuda::compile(request_of(kStages[0])); })});
    std::printf("NVRTC %s\n", cuda::nvrtc().version().c_str());
    double one_kernel = 0;
    for (const std::string stage : kStages) {
        const auto request = request_of(stage);
        std::vector<double> cold, warm;
        for (int i = 0; i < kColdRuns; ++i)
            cold.push_back(milliseconds([&] { (void)cuda::compile(request); }));
        (void)cuda::load_or_compile(request);
        for (int i = 0; i < kWarmRuns; ++i)
            warm.push_back(time_warm_process(program, stage));
        const double median = report(stage + ", compiled", cold);
        report(stage + ", a new process, warm cache", warm);
        one_kernel = one_kernel == 0 ? median : one_kernel;
    }
    const fs::path headers = SEGFOLD_CCCL_FOLDER;
    const cuda::CompileRequest with_header = {
        kWithHeader,
        "cub.cu",
        architecture(),
        {"-I" + headers.string(), "-I" + headers.parent_path().string()}};
    std::vector<double> times;
    for (int i = 0; i < kHeaderRuns; ++i)
        times.push_back(milliseconds([&] { (void)cuda::compile(with_header); }));
    const double median = report("a source that includes cub/block/block_reduce.cuh", times);
    std::printf("%s compiles %.1f times as fast as that\n", kStages[0], median / one_kernel);
    fs::remove_all(folder);
}

/// The first GPU, if there is one, onto which compiled programs are loaded.
class Target {
public:
    Target()
    {
        if (!cuda::devices().empty())
            context_.emplace();
    }

    void load(const cuda::Compiled& compiled, const std::vector<std::string>& kernels) const
    {
        if (!context_)
            return;
        const cuda::Module module(*context_, compiled, "a timed program");
        for (const auto& kernel : kernels)
            (void)module.kernel(kernel);
    }

    [[nodiscard]] std::string what() const { return context_ ? "compiled and loaded" : "compiled"; }

private:
    std::optional<cuda::Context> context_;
};

cuda::Variant variant_of(const Emitted& emitted, const std::string& stage)
{
    cuda::Variant variant{{emitted.source, stage + ".cu", architecture(), {}}, {}};
    for (const auto& launch : emitted.launches)
        if (std::ranges::find(variant.kernels, launch.kernel) == variant.kernels.end())
            variant.kernels.push_back(launch.kernel);
    return variant;
}

/// A stage in its usual configuration for one operator, and the median time until it can be launched.
struct TimedPlan {
    std::string name;
    std::size_t num_kernels = 0;
    double milliseconds = 0;
};

/// The form in which a stage is timed: offsets, or else its first.
SegmentForm usual_form(const Stage& stage)
{
    const auto takes_offsets = std::ranges::find(stage.forms, SegmentForm::offsets) != stage.forms.end();
    return takes_offsets ? SegmentForm::offsets : stage.forms.front();
}

/// The problem of an operator that a stage can serve: of the usual type, else of the first that it takes.
std::optional<Problem> served_problem(const Stage& stage, const StandardOperator& standard, SegmentForm form)
{
    std::vector<std::optional<Type>> types = {std::nullopt};
    types.insert(types.end(), standard.types.begin(), standard.types.end());
    for (const auto type : types) {
        Problem problem(standard_operator(standard.name, type), form);
        if (!Catalogue::standard().unmet(stage, problem))
            return problem;
    }
    return std::nullopt;
}

/// The plans of a stage for all operators that it can serve.
std::vector<TimedPlan> time_plans(const Stage& stage, const Target& target)
{
    const auto form = usual_form(stage);
    std::vector<TimedPlan> plans;
    for (const auto& standard : standard_operators()) {
        const auto problem = served_problem(stage, standard, form);
        if (!problem)
            continue;
        const auto emitted = emit(*problem, stage, default_configuration(stage, plan_facts(*problem)));
        const auto variant = variant_of(emitted, stage.name);
        std::vector<double> times;
        for (int i = 0; i < kRunsOfEvery; ++i)
            times.push_back(
                milliseconds([&] { target.load(cuda::compile(variant.request), variant.kernels); }));
        plans.push_back({problem->op.name, variant.kernels.size(), median_of(times)});
    }
    return plans;
}

void time_every(const Target& target)
{
    auto stages = Catalogue::standard().stages();
    std::ranges::stable_partition(stages, [](const Stage& stage) { return !stage.is_rung; });
    std::vector<double> of_one_kernel;
    TimedPlan slowest;
    for (const auto& stage : stages) {
        const auto plans = time_plans(stage, target);
        if (plans.empty()) {
            std::printf("%-24s   0 operators\n", stage.name.c_str());
            continue;
        }
        std::vector<double> times;
        for (const auto& plan : plans) {
            times.push_back(plan.milliseconds);
            if (plan.num_kernels == 1)
                of_one_kernel.push_back(plan.milliseconds);
        }
        const auto& worst = *std::ranges::max_element(plans, {}, &TimedPlan::milliseconds);
        if (worst.milliseconds > slowest.milliseconds)
            slowest = {stage.name + " of " + worst.name, worst.num_kernels, worst.milliseconds};
        std::printf("%-24s %3zu operators  %9.2f ms  slowest %-20s %9.2f ms\n", stage.name.c_str(),
                    plans.size(), median_of(times), worst.name.c_str(), worst.milliseconds);
        std::fflush(stdout);
    }
    const auto num_long = std::ranges::count_if(of_one_kernel, [](double time) { return time > kLong; });
    std::printf("plans of one kernel: median %.2f ms, %td of %zu over %.0f ms\n", median_of(of_one_kernel),
                num_long, of_one_kernel.size(), kLong);
    std::printf("the slowest plan: %s, %.2f ms\n", slowest.name.c_str(), slowest.milliseconds);
}

unsigned usable_cores()
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return std::max(1u, std::thread::hardware_concurrency());
    return static_cast<unsigned>(CPU_COUNT(&cores));
}

/// Configurations of a stage drawn from all that it has; all where they are few.
std::vector<cuda::Variant> drawn_configurations(const Stage& stage, const Problem& problem)
{
    auto all = configurations(stage, plan_facts(problem));
    const auto count = std::min(kDrawn, all.size());
    RandomSequence random(1);
    std::vector<cuda::Variant> variants;
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(all[i], all[i + random() % (all.size() - i)]);
        variants.push_back(
            variant_of(emit(problem, stage, all[i], Catalogue::standard(), Numbers::at_launch), stage.name));
    }
    return variants;
}

/// The time of a variant where each is compiled by itself, on all cores.
double time_alone(const std::vector<cuda::Variant>& variants, const Target& target)
{
    const double time = milliseconds([&] {
        std::atomic<std::size_t> next = 0;
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < usable_cores(); ++i)
            threads.emplace_back([&] {
                for (auto k = next++; k < variants.size(); k = next++)
                    target.load(cuda::compile(variants[k].request), variants[k].kernels);
            });
    });
    return time / static_cast<double>(variants.size());
}

/// The time of a variant where the tuner has them compiled in the background.
double time_batch(const std::vector<cuda::Variant>& variants, const Target& target)
{
    const double time = milliseconds([&] {
        cuda::CompileCache programs;
        cuda::Ahead ahead(programs, usable_cores());
        ahead.add(variants);
        for (const auto& variant : variants)
            target.load(*programs.get(variant.request), variant.kernels);
    });
    return time / static_cast<double>(variants.size());
}

/// A line for each stage: a sum's configurations each by itself and in a batch, and batches of all operators.
void time_batches(const Target& target)
{
    std::vector<double> every;
    for (const auto& stage : Catalogue::standard().stages()) {
        if (stage.is_rung)
            continue;
        const auto form = usual_form(stage);
        const auto sum = drawn_configurations(stage, Problem(standard_operator("sum_f32"), form));
        std::set<std::string> texts;
        for (const auto& variant : sum)
            texts.insert(variant.request.source);
        std::vector<double> times;
        TimedPlan slowest;
        for (const auto& standard : standard_operators()) {
            const auto problem = served_problem(stage, standard, form);
            if (!problem)
                continue;
            times.push_back(time_batch(drawn_configurations(stage, *problem), target));
            if (times.back() > slowest.milliseconds)
                slowest = {problem->op.name, 1, times.back()};
        }
        every.insert(every.end(), times.begin(), times.end());
        const double alone = time_alone(sum, target), together = time_batch(sum, target);
        std::printf(
            "%-20s sum: %2zu configurations of %2zu texts, by themselves %7.2f ms each, in a batch "
            "%7.2f; %2zu operators: %7.2f, slowest %s %7.2f\n",
            stage.name.c_str(), sum.size(), texts.size(), alone, together, times.size(), median_of(times),
            slowest.name.c_str(), slowest.milliseconds);
        std::fflush(stdout);
    }
    std::printf("median of %zu batches: %.2f ms a variant\n", every.size(), median_of(every));
}

/// Takes a plan's distance from the search's start for its time, once it is compiled and loaded.
class CompilingEvaluator : public tune::Evaluator {
public:
    CompilingEvaluator(const Problem& problem, const tune::SearchSpace& space, const Target& target)
        : space_(space),
          target_(target),
          texts_(problem, Catalogue::standard()),
          ahead_(programs_, usable_cores())
    {}

    PlanMeasurement evaluate(const Point& point, double /*best*/) override
    {
        const auto& text = texts_.of(point);
        used_.insert(text.source);
        const auto variant = variant_of(text, point.stage);
        target_.load(*programs_.get(variant.request), variant.kernels);
        return {.milliseconds = 1 + space_.distance(*space_.find(point), space_.starts().front())};
    }

    void expect(std::span<const Point> points) override
    {
        std::vector<cuda::Variant> variants;
        for (const auto& point : points)
            variants.push_back(variant_of(texts_.of(point), point.stage));
        ahead_.add(std::move(variants));
    }

    std::vector<std::vector<double>> rank(std::span<const Point> /*points*/, int /*rounds*/) override
    {
        return {};
    }

    PlanMeasurement validate(const Point& /*point*/) override { return {}; }

    [[nodiscard]] std::size_t num_texts() const { return used_.size(); }

private:
    const tune::SearchSpace& space_;
    const Target& target_;
    tune::SharedTexts texts_;
    cuda::CompileCache programs_;
    cuda::Ahead ahead_;
    std::set<std::string_view> used_;
};

/// What compiling costs a search of each standard operator over segments of 32 elements in the mean.
void time_searches(const Target& target)
{
    const Shape shape{1 << 26, 1 << 21, 512};
    for (const std::size_t evaluations : {40, 400}) {
        std::vector<double> all;
        for (const auto& standard : standard_operators()) {
            const Problem problem(standard_operator(standard.name), SegmentForm::offsets);
            const auto space = tune::SearchSpace::of(problem, shape, Catalogue::standard());
            CompilingEvaluator evaluator(problem, space, target);
            tune::SearchOptions options;
            options.evaluations = evaluations;
            std::size_t count = 0;
            const double time = milliseconds([&] { count = tune::search(space, evaluator, options).size(); });
            all.push_back(time / static_cast<double>(count));
            std::printf("%-24s %3zu evaluations of %2zu texts: %8.2f ms each\n", standard.name.c_str(), count,
                        evaluator.num_texts(), all.back());
            std::fflush(stdout);
        }
        std::printf("median of the operators: %.2f ms\n", median_of(all));
    }
}

void compare_plans(bool in_batches)
{
    setenv("SEGFOLD_CACHE", "off", 1);
    const Target target;
    (void)cuda::compile(request_of(kStages[0]));  // opens NVRTC
    std::printf("architecture %s, NVRTC %s, %u cores; %s, %s\n", architecture().c_str(),
                cuda::nvrtc().version().c_str(), usable_cores(), target.what().c_str(),
                in_batches ? "one run each" : "medians");
    if (in_batches) {
        time_batches(target);
        time_searches(target);
    } else {
        time_every(target);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    cuda::keep_memory_for_compilations();
    try {
        if (argc == 3 && std::strcmp(argv[1], "--warm") == 0)
            return run_warm(argv[2]);
        const std::string_view flag = argc == 2 ? argv[1] : "";
        if (flag == "--every" || flag == "--batches")
            compare_plans(flag == "--batches");
        else
            compare();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
