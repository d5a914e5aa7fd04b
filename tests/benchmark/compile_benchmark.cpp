// What a plan costs before its first launch: compiled, loaded from the disk by a new process, and beside it
// NVRTC on a source that includes a block header of CUB.
//
// Prints one line for each, medians with the lowest and highest; takes about 30 seconds. Loading onto a GPU
// is timed too where there is one. Called as "compile_benchmark --warm STAGE" it is such a new process.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "dsl/standard_operators.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/kernel_cache.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/module.h"
#include "runtime/simt/process.h"

namespace {

using namespace segfold;
namespace fs = std::filesystem;

constexpr int kColdRuns = 15, kWarmRuns = 15, kHeaderRuns = 3;
constexpr const char* kStages[] = {"thread_per_segment", "warp_per_segment", "block_per_segment",
                                   "warp_stream"};
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
    const auto result = simt::run_process({program, "--warm", stage});
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

}  // namespace

int main(int argc, char** argv)
{
    try {
        if (argc == 3 && std::strcmp(argv[1], "--warm") == 0)
            return run_warm(argv[2]);
        compare();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
