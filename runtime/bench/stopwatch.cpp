#include "runtime/bench/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/backends/cuda/kernel_cache.h"
#include "runtime/bench/kernels.h"

namespace segfold::bench {
namespace {

constexpr int kCeilingRepeats = 21;
constexpr int kHostRounds = 5;
constexpr std::size_t kCeilingBytes = std::size_t{1} << 30;
constexpr std::size_t kGranule = std::size_t{1} << 20;

cuda::Module load_read_kernels(const cuda::Context& context)
{
    const auto& info = context.info();
    const auto architecture = cuda::architecture_for(info.compute_major, info.compute_minor);
    return {context, cuda::load_or_compile({std::string(kernels("read.cu")), "read.cu", architecture, {}}),
            "read.cu"};
}

}  // namespace

Stopwatch::Stopwatch(const cuda::Context& context)
    : context_(context), stream_(context), module_(load_read_kernels(context)), sink_(context, sizeof(float))
{}

void Stopwatch::read(const cuda::DeviceBuffer& buffer, const std::string& kernel, std::uint64_t grid,
                     std::uint64_t block)
{
    cuda::Arguments arguments;
    arguments.add(buffer).add(static_cast<long long>(buffer.bytes() / 16)).add(sink_);
    module_.kernel(kernel).launch(stream_, {.grid = {grid}, .block = {block}}, arguments);
}

ReadCeiling Stopwatch::read_ceiling()
{
    const auto bytes =
        std::max(kGranule, std::min(kCeilingBytes, context_.memory().free_bytes / 4) / kGranule * kGranule);
    cuda::DeviceBuffer buffer(context_, bytes);
    buffer.fill_with(1.0f);
    const auto multiprocessors = static_cast<std::uint64_t>(context_.info().multiprocessors);
    ReadCeiling best;
    for (const int loads : {1, 4, 8})
        for (const std::uint64_t waves : {4, 8, 16, 32})
            for (const std::uint64_t block : {256, 512}) {
                const auto grid = multiprocessors * waves;
                const auto kernel = fmt::format("read{}", loads);
                const auto times = cuda::time_launches(stream_, kWarmups, kCeilingRepeats,
                                                       [&] { read(buffer, kernel, grid, block); });
                const double rate = static_cast<double>(bytes) / (quartiles(times).median * 1e-3);
                if (rate > best.bytes_per_second)
                    best = {rate, fmt::format("{} blocks of {}, {} load{} in flight, {} MiB", grid, block,
                                              loads, loads == 1 ? "" : "s", bytes / kGranule)};
            }
    return best;
}

bool Stopwatch::fits_cache(std::int64_t bytes) const
{
    return bytes < static_cast<std::int64_t>(4 * context_.info().l2_bytes);
}

double Stopwatch::once(const std::function<void()>& launch)
{
    cuda::Event start(context_), stop(context_);
    stream_.synchronize();
    start.record(stream_);
    launch();
    stop.record(stream_);
    stream_.synchronize();
    return cuda::elapsed_milliseconds(start, stop);
}

std::vector<double> Stopwatch::time(const std::function<void()>& launch, int warmups, int repeats, bool flush)
{
    if (!flush)
        return cuda::time_launches(stream_, warmups, repeats, launch);
    return cuda::time_launches(stream_, warmups, repeats, launch, [&] { fill_cache(); });
}

void Stopwatch::fill_cache()
{
    if (other_.bytes() == 0) {
        other_ = cuda::DeviceBuffer(context_, std::max(kGranule, 2 * context_.info().l2_bytes));
        other_.fill_with(1.0f);
    }
    read(other_, "read4", static_cast<std::uint64_t>(context_.info().multiprocessors) * 8, 256);
}

std::vector<double> Stopwatch::wall_milliseconds(const std::function<void()>& launch, int warmups,
                                                 int repeats, bool flush)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    for (int run = -warmups; run < repeats; ++run) {
        if (flush)
            fill_cache();
        stream_.synchronize();
        const auto start = Clock::now();
        launch();
        stream_.synchronize();
        const std::chrono::duration<double, std::milli> spent = Clock::now() - start;
        if (run >= 0)
            milliseconds.push_back(spent.count());
    }
    return milliseconds;
}

double Stopwatch::host_microseconds(const std::function<void()>& launch, int launches)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> rounds;
    for (int round = 0; round < kHostRounds; ++round) {
        stream_.synchronize();
        const auto start = Clock::now();
        for (int i = 0; i < launches; ++i)
            launch();
        const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
        rounds.push_back(spent.count() / launches);
    }
    stream_.synchronize();
    return quartiles(rounds).median;
}

}  // namespace segfold::bench
