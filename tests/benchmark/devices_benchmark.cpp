// How fast several GPUs of a host fold arrays that lie on them, beside one GPU that holds all of it.
//
//     devices_benchmark [--nccl] [ELEMENTS [ROUNDS [LAYOUT ...]]]     2^32 elements, 15 rounds and all
//     layouts without them mpirun -n 2 devices_benchmark ...                  a GPU for each rank
//
// With --nccl the states at the borders are gathered by NCCL, which is opened at run time (SEGFOLD_NCCL: its
// path). Sums of f32 that are small integers, so that results must agree bit for bit. A time is that of the
// host's clock from the call until all results are there, the joins included. Prints for each layout the
// median and the quartiles of one GPU's rounds and of all GPUs', the rate, and how many times as fast they
// are. With mpirun one GPU is rank 0's; rounds begin together, and a time is the longest of the ranks'.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dsl/layout.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/data/resolve.h"
#include "runtime/session/choice/traffic.h"
#include "runtime/session/scale/ranks/mpi_world.h"
#include "runtime/session/scale/resident.h"
#include "runtime/support/processes/parallel.h"

namespace {

using namespace segfold;
using Clock = std::chrono::steady_clock;

struct Quartiles {
    double low = 0, median = 0, high = 0;
};

Quartiles quartiles(std::vector<double> values)
{
    std::ranges::sort(values);
    const auto at = [&](double part) {
        return values[static_cast<std::size_t>(part * (std::size(values) - 1))];
    };
    return {at(0.25), at(0.5), at(0.75)};
}

/// The longest of what all ranks say; they meet here.
double longest(Communicator* ranks, double seconds)
{
    if (ranks == nullptr)
        return seconds;
    for (const auto& bytes : ranks->all_gather(std::as_bytes(std::span(&seconds, 1)))) {
        double other = 0;
        std::memcpy(&other, bytes.data(), sizeof other);
        seconds = std::max(seconds, other);
    }
    return seconds;
}

/// Folds in rounds; `all` receives the results.
Quartiles measure(ResidentFold& fold, const DividedWorkload& resident, Communicator* ranks, int rounds,
                  Results& all)
{
    std::vector<double> seconds;
    for (int round = -3; round < rounds; ++round) {
        (void)longest(ranks, 0);
        const auto begin = Clock::now();
        const auto finished = ranks != nullptr ? fold.run(*ranks) : fold.run();
        const auto own = std::chrono::duration<double>(Clock::now() - begin).count();
        const auto taken = longest(ranks, own);
        if (round >= 0)
            seconds.push_back(taken);
        for (const auto& one : finished)
            one.store(all, one.segment);
    }
    resident.gather(all);
    return quartiles(seconds);
}

/// Segments whose results differ among those of this process.
std::int64_t num_different(const Results& one, const Results& other, std::int64_t first, std::int64_t last)
{
    const auto a = one[0].array.as<float>(), b = other[0].array.as<float>();
    std::int64_t count = 0;
    for (auto s = first; s < last; ++s)
        count += a[static_cast<std::size_t>(s)] != b[static_cast<std::size_t>(s)] ? 1 : 0;
    return count;
}

void compare(std::vector<std::unique_ptr<Session>>& sessions, Communicator* ranks, const Workload& workload,
             const std::string& layout, int rounds, BorderWay borders)
{
    auto alone = allocate_results(workload, SegmentForm::offsets);
    auto shared = allocate_results(workload, SegmentForm::offsets);
    const bool is_first = ranks == nullptr || ranks->rank() == 0;
    Quartiles one;
    std::string stage;
    if (is_first) {
        Session* const session = sessions[0].get();
        const DividedWorkload resident(std::span(&session, 1), workload, 0, 1);
        ResidentFold fold(workload.op, resident.parts());
        one = measure(fold, resident, nullptr, rounds, alone);
        if (fold.plan() != nullptr)
            stage = fold.plan()->stage();
    }
    std::vector<Session*> used;
    for (auto& session : sessions)
        used.push_back(session.get());
    const auto own = std::ssize(used);
    const DividedWorkload resident(used, workload, ranks != nullptr ? ranks->rank() * own : 0,
                                   ranks != nullptr ? ranks->size() * own : own);
    ResidentFold fold(workload.op, resident.parts(), {}, borders);
    const auto many = measure(fold, resident, ranks, rounds, shared);
    if (!is_first)
        return;
    // Rank 0 has the segments of its own parts.
    const auto parts = fold.parts();
    const auto last =
        ranks != nullptr ? parts.back().first_inner + parts.back().num_inner : workload.segments.num_segments;
    const auto bytes = static_cast<double>(compulsory_traffic(workload.op, workload.segments).total());
    std::printf("%-26s %-18s %8.3f (%.3f - %.3f) %8.3f (%.3f - %.3f) %8.0f %8.0f %6.3f %s\n", layout.c_str(),
                stage.c_str(), one.median * 1e3, one.low * 1e3, one.high * 1e3, many.median * 1e3,
                many.low * 1e3, many.high * 1e3, bytes / one.median / 1e9, bytes / many.median / 1e9,
                one.median / many.median, num_different(alone, shared, 0, last) == 0 ? "equal" : "DIFFERENT");
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv)
{
    const auto ranks = mpi_world();
    auto borders = BorderWay::host;
    if (argc > 1 && std::strcmp(argv[1], "--nccl") == 0) {
        borders = BorderWay::nccl;
        ++argv;
        --argc;
    }
    const std::int64_t num_elements = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 32;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    std::vector<std::string> layouts(argv + std::min(argc, 3), argv + argc);
    if (layouts.empty())
        layouts = {"whole",
                   "uniform=32",
                   "uniform=1024",
                   "uniform=1048576",
                   "geometric:mean=32",
                   "poisson:mean=32",
                   "zipf:exponent=1.9",
                   "lognormal:mean=3,sigma=1.2",
                   "half_empty:mean=32",
                   "giant:half"};
    const auto num_devices = static_cast<int>(cuda::devices().size());
    std::vector<std::unique_ptr<Session>> sessions;
    for (int device = 0; device < num_devices; ++device) {
        SessionOptions options;
        options.backend = "cuda";
        options.device = ranks ? ranks->local_rank() % num_devices : device;
        sessions.push_back(std::make_unique<Session>(options));
        if (ranks)
            break;
    }
    if (sessions.empty()) {
        std::printf("there is no GPU: %s\n", cuda::no_device_reason().c_str());
        return 77;
    }
    Workload workload{standard_operator("sum", Type::f32), {}, {}};
    workload.arrays.emplace_back(Type::f32, static_cast<std::size_t>(num_elements));
    const auto values = workload.arrays[0].as<float>();
    parallel_for(num_elements, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
            values[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % 5 - 2);
    });
    if (!ranks || ranks->rank() == 0)
        std::printf(
            "%lld elements of f32, %d rounds, %s, %d in all, borders by %s\n%-26s %-18s %26s %26s %8s %8s "
            "%6s\n",
            static_cast<long long>(num_elements), rounds, cuda::devices()[0].name.c_str(),
            ranks ? ranks->size() : num_devices, borders == BorderWay::nccl ? "NCCL" : "the host", "layout",
            "stage", "one GPU, ms", "all, ms", "GB/s", "GB/s", "times");
    for (const auto& layout : layouts) {
        try {
            workload.segments = resolve(parse_layout(layout), num_elements).segments;
            compare(sessions, ranks.get(), workload, layout, rounds, borders);
        } catch (const std::exception& error) {
            std::printf("%s: %s\n", layout.c_str(), error.what());
            if (ranks)
                ranks->abort(1);
        }
    }
}
