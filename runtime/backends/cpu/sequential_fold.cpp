#include "runtime/backends/cpu/sequential_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "runtime/backends/bound_plan.h"
#include "runtime/simt/program.h"

namespace segfold::cpu {
namespace {

constexpr int kOptimisation = 3;

/// Emits the text of the fold with as few threads per block as possible, because on one segment all threads
/// but the first are idle.
Emitted emit_fold(const Operator& op, const Segments& segments)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const Problem problem(op, segments.form, segments.index_bits());
    const auto threads = std::ranges::find(stage.tunables, "block_threads", &Tunable::name);
    const auto fewest = std::ranges::min(threads->values);
    return emit(problem, stage, configure(stage, {{"block_threads", fewest}, {"segments_per_thread", 1}}));
}

std::uint64_t address(const std::byte* place) { return reinterpret_cast<std::uint64_t>(place); }

}  // namespace

SequentialFold fold_sequentially(const Operator& op, const Segments& segments,
                                 std::span<const std::byte* const> columns, int repeats)
{
    if (columns.size() != op.parameters.size())
        throw InternalError(fmt::format("fold_sequentially: {} columns for the {} parameters of {}",
                                        columns.size(), op.parameters.size(), op.name));
    const auto emitted = emit_fold(op, segments);
    BoundPlan plan(op, emitted, sizes_of(segments), 1);
    const std::vector<std::string> kernels = {emitted.launches.front().kernel};
    simt::CompileOptions compile_options;
    compile_options.shadow_check = false;
    compile_options.optimisation = kOptimisation;
    const auto program = simt::Program::compile(emitted.source, kernels, compile_options);

    Workload workload;
    workload.op = op;
    workload.segments = segments.copy();
    SequentialFold fold{allocate_results(workload, emitted.form), {}};
    const auto layout = segment_arrays(segments, emitted.form);
    std::vector<std::uint64_t> places, results;
    for (std::size_t i = 0; i < columns.size(); ++i)
        plan.bind_input(i, address(columns[i]), 0);  // no table is checked
    for (const auto& named : layout)
        places.push_back(address(named.array.data()));
    for (const auto& named : fold.results)
        results.push_back(address(named.array.data()));
    plan.bind_segments(places);
    plan.bind_results(results);

    simt::Options options;
    options.shadow_check = false;
    options.endless_seconds = 0;
    options.resident_blocks = 1;
    options.os_threads = 1;
    for (int run = 0; run <= repeats; ++run)
        for (std::size_t i = 0; i < plan.launches().size(); ++i) {
            const auto& launch = plan.launches()[i];
            simt::Dimensions dimensions;
            dimensions.grid_x = static_cast<unsigned>(launch.grid);
            dimensions.block_x = static_cast<unsigned>(launch.block);
            const auto statistics = program.launch(
                launch.kernel, dimensions, {plan.arguments(i), plan.argument_sizes(i).size()}, options);
            if (run > 0)
                fold.seconds.push_back(statistics.seconds);
        }
    return fold;
}

std::string processor_name()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos)
                return line.substr(colon + 2);
    return "unknown CPU";
}

}  // namespace segfold::cpu
