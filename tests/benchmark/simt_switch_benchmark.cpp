// How many fiber switches a second a core makes, with and without the checks.
//
// A switch is counted each time the core leaves one stack for another (LaunchStatistics::fiber_switches). A
// thread that goes on without having left its stack, and a thread that begins on the stack where another has
// ended, is none. Prints one line for each way to run; takes about two seconds.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/simt/program.h"

namespace {

using namespace segfold::simt;

/// Switches a second of processor time, in the best of several launches on one core.
double measure(const Program& program, const Options& options)
{
    constexpr int kBlocks = 16;
    constexpr int kThreads = 256;
    constexpr int kLaunches = 5;
    Buffer values("values", kThreads * sizeof(float));
    Buffer sums("sums", kBlocks * sizeof(float));
    std::ranges::fill(values.as<float>(), 1.0f);
    int rounds = 100;
    std::byte* pointers[] = {values.data(), sums.data()};
    void* const arguments[] = {&pointers[0], &pointers[1], &rounds};
    double best = 0;
    for (int i = 0; i < kLaunches; ++i) {
        const std::clock_t start = std::clock();
        const LaunchStatistics statistics =
            program.launch("switches", {.grid_x = kBlocks, .block_x = kThreads}, arguments, options);
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        best = std::max(best, static_cast<double>(statistics.fiber_switches) / seconds);
    }
    return best;
}

}  // namespace

int main(int, char** arguments)
{
    std::ifstream file(arguments[1] != nullptr ? arguments[1]
                                               : SEGFOLD_SOURCE_DIR "/tests/simt_kernels/switches.cu");
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::string> kernels = {"switches"};
    const Program plain = Program::compile(source, kernels, {.shadow_check = false});
    const Program checked = Program::compile(source, kernels, {.shadow_check = true});
    std::printf("%-12s  %-9s  %s\n", "schedule", "resident",
                "million switches per second and core: plain, checked");
    for (const Schedule schedule :
         {Schedule::ascending, Schedule::descending, Schedule::sticky_warp, Schedule::priority})
        for (const int resident : {1, 4}) {
            Options options;
            options.schedule = schedule;
            options.resident_blocks = resident;
            options.os_threads = 1;
            std::printf("%-12s  %-9d  %6.1f %6.1f\n", std::string(name(schedule)).c_str(), resident,
                        measure(plain, options) / 1e6, measure(checked, options) / 1e6);
        }
}
