// Times every stage on a GPU over a few workloads and prints what share of the memory's read rate it reaches.
//
//     stage_bandwidth [log2 of the number of elements]
//
// GB/s count compulsory bytes only: each input once, the layout's arrays once, each result once. The ceiling is what
// a kernel that only reads 2^30 bytes reaches in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "codegen/emit.h"
#include "dsl/standard_operators.h"
#include "runtime/compare.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/module.h"
#include "runtime/launch_plan.h"
#include "runtime/workload.h"

using namespace segfold;

namespace {

constexpr int kWarmups = 3;
constexpr int kRepeats = 21;

struct Quartiles {
    double low, median, high;
};

Quartiles quartiles(std::vector<double> values)
{
    std::ranges::sort(values);
    return {values[values.size() / 4], values[values.size() / 2], values[values.size() * 3 / 4]};
}

/// Reads every element once; the sum is written only if it is a value that it never has.
constexpr const char* kReadKernel = R"(
extern "C" __global__ void read(const float4* values, long long count, float* sink)
{
    float sum = 0.0f;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
        const float4 v = values[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 1.2345e30f)
        *sink = sum;
}
)";

double read_ceiling(const cuda::Context& context)
{
    const std::int64_t bytes = std::int64_t{1} << 30;
    cuda::DeviceBuffer values(context, static_cast<std::size_t>(bytes));
    values.fill_with(1.0f);
    const cuda::DeviceBuffer sink(context, 4);
    const auto compiled = cuda::compile({kReadKernel, "read.cu", context.info().architecture(), {}});
    const auto kernel = cuda::Module(context, compiled, "read").kernel("read");
    cuda::Stream stream(context);
    cuda::Arguments arguments;
    arguments.add(values).add<long long>(bytes / 16).add(sink);
    cuda::LaunchShape shape;
    shape.grid.x = static_cast<std::uint64_t>(context.info().multiprocessors) * 8;
    shape.block.x = 256;
    const auto times = cuda::time_launches(stream, kWarmups, kRepeats,
                                           [&] { kernel.launch(stream, shape, arguments); });
    return static_cast<double>(bytes) / (quartiles(times).median * 1e-3);
}

std::int64_t compulsory_bytes(const Workload& workload)
{
    std::size_t bytes = 0;
    for (const auto& array : workload.arrays)
        bytes += array.bytes();
    for (const auto& named : segment_arrays(workload.segments))
        bytes += named.array.bytes();
    for (const auto& named : allocate_results(workload))
        bytes += named.array.bytes();
    if (workload.segments.keys)
        bytes += workload.segments.keys->bytes();
    return static_cast<std::int64_t>(bytes);
}

void measure(const cuda::Context& context, const std::string& op, const std::string& layout, std::int64_t n,
             double ceiling, SegmentForm form = SegmentForm::offsets)
{
    Workload workload;
    workload.op = standard_operator(op);
    auto resolved = resolve(parse_layout(layout), n);
    workload.segments = is_found(form) ? given_as(form, resolved.segments) : std::move(resolved.segments);
    for (const auto& parameter : workload.op.parameters)
        workload.arrays.push_back(generate_values(parameter.type, n, 7, ValueRange::small_integers));
    cuda::ResidentWorkload resident(context, workload);
    cuda::Stream stream(context);
    for (const auto& stage : Catalogue::standard().stages()) {
        const Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
        if (is_found(form) && served_form(stage, form) != form)
            continue;
        const bool hopeless = stage.name == "thread_per_segment" && workload.segments.num_segments < 10000;
        if (hopeless || Catalogue::standard().unmet(stage, problem))
            continue;
        const cuda::LoadedPlan plan(context, resident, emit(problem, stage, default_configuration(stage, plan_facts(problem))), stage.name);
        const auto [low, median, high] =
            quartiles(cuda::time_launches(stream, kWarmups, kRepeats, [&] { plan.launch(stream); }));
        stream.synchronize();
        const double rate = static_cast<double>(compulsory_bytes(workload)) / (median * 1e-3);
        fmt::print("{:<18} {:<22} {:<19} {:9.3f} ms  [{:.3f}, {:.3f}]  {:7.0f} GB/s  {:.3f}\n", op, layout,
                   is_found(form) ? stage.name + " " + std::string(name(form)) : stage.name, median,
                   low, high, rate * 1e-9, rate / ceiling);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int count, char** arguments)
try {
    if (cuda::devices().empty()) {
        fmt::print(stderr, "{}\n", cuda::no_device_reason());
        return 3;
    }
    const int log2 = count > 1 ? std::atoi(arguments[1]) : 28;
    const cuda::Context context;
    const auto& info = context.info();
    const double ceiling = read_ceiling(context);
    fmt::print("{}, {} multiprocessors, driver {}, {} elements\nread ceiling {:.0f} GB/s\n", info.name,
               info.multiprocessors, info.driver_version, std::int64_t{1} << log2, ceiling * 1e-9);
    for (const std::string layout : {"whole", "uniform=4", "uniform=32", "uniform=1024", "uniform=65536",
                                     "geometric:mean=32", "zipf:exponent=1.9", "giant:half"})
        for (const std::string op : {"sum_f32", "mean_variance_f32", "trace_u64"}) {
            if (op == "sum_f32" || layout == "whole" || layout == "geometric:mean=32")
                measure(context, op, layout, std::int64_t{1} << (op == "trace_u64" ? log2 - 1 : log2), ceiling);
        }
    for (const std::string layout : {"uniform=1", "uniform=2", "uniform=4", "uniform=8", "uniform=32", "uniform=1024",
                                     "uniform=65536", "zipf:exponent=1.9", "giant:half"})
        for (const auto form : {SegmentForm::flags, SegmentForm::keys})
            measure(context, "sum_f32", layout, std::int64_t{1} << log2, ceiling, form);
    return 0;
} catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.exit_code();
}
