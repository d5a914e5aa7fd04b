#include "runtime/measure/bench/loaded_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/measure/bench/probe_answers.h"

namespace segfold::bench {
namespace {

/// Largest size, in bytes, to which a probe's input is enlarged ahead of need.
constexpr std::int64_t kMostAhead = std::int64_t{1} << 30;

int element_bytes(const Scratch& buffer) { return buffer.element == "u64" ? 8 : 4; }

std::size_t bytes_of(const Scratch& buffer, const FormulaNames& names)
{
    return static_cast<std::size_t>(buffer.count.value(names) * element_bytes(buffer));
}

Resources resources_of(const cuda::Kernel& kernel, const cuda::KernelResources& reported, int block,
                       const cuda::DeviceInfo& info)
{
    return {.registers = reported.registers,
            .spill_bytes = reported.spill_store_bytes + reported.spill_load_bytes,
            .shared_bytes = reported.static_shared_bytes,
            .local_bytes = reported.stack_bytes,
            .occupancy = static_cast<double>(kernel.resident_blocks(block) * block) /
                         info.max_threads_per_multiprocessor};
}

}  // namespace

Probes::Probes(Bench& bench, const Catalogue& catalogue)
    : bench_(bench), timing_(cuda::cuda_timing(*bench.timing, "probes")), catalogue_(catalogue)
{}

const cuda::DeviceBuffer& Probes::input(std::int64_t bytes)
{
    if (static_cast<std::int64_t>(input_.bytes()) < bytes) {
        // At least doubles the size, so that a sweep over growing inputs allocates few buffers.
        bytes = std::max(bytes, std::min(2 * static_cast<std::int64_t>(input_.bytes()), kMostAhead));
        std::vector<std::uint32_t> words(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
        fill_probe_input(words);
        input_ = {};
        input_ = cuda::DeviceBuffer(timing_.context(), std::as_bytes(std::span(words)));
    }
    return input_;
}

Entry Probes::measure(const ProbeRequest& request)
{
    const auto emitted = emit(request.probe, request.configuration,
                              [&](std::string_view path) { return catalogue_.part(path); });
    FormulaNames names(request.configuration.begin(), request.configuration.end());
    names["num_elements"] = request.num_elements;

    Entry entry;
    entry.name = request.row;
    entry.configuration = print(request.configuration);
    const auto& context = timing_.context();
    const auto& info = context.info();
    const auto name = request.probe.name + ".cu";
    const auto compiled = timing_.programs().get(
        {emitted.source, name, cuda::architecture_for(info.compute_major, info.compute_minor), {}});
    entry.compile_milliseconds = compiled->seconds * 1e3;
    const auto kernel = cuda::Module(context, *compiled, name).kernel(emitted.launch.kernel);
    const cuda::LaunchShape shape = {
        .grid = {static_cast<std::uint64_t>(emitted.launch.grid.value(names))},
        .block = {static_cast<std::uint64_t>(emitted.launch.block.value(names))}};
    // If NVRTC does not know the GPU, it makes PTX, which has no resource report. The driver's report is used
    // instead.
    const auto reported = compiled->resources.empty() ? kernel.resources() : compiled->resources.front();
    entry.resources = resources_of(kernel, reported, static_cast<int>(shape.block.x), info);

    std::map<std::string, std::uint64_t> addresses;
    std::size_t input_bytes = 0;
    for (const auto& buffer : emitted.inputs)
        input_bytes = std::max(input_bytes, bytes_of(buffer, names));
    for (const auto& buffer : emitted.inputs)
        addresses[buffer.name] = input(static_cast<std::int64_t>(input_bytes)).address();
    std::vector<cuda::DeviceBuffer> scratch;
    for (const auto& buffer : emitted.scratch) {
        scratch.emplace_back(context, bytes_of(buffer, names));
        scratch.back().zero();
        addresses[buffer.name] = scratch.back().address();
    }
    cuda::DeviceBuffer output(context, bytes_of(emitted.output, names));
    output.fill_with(kProbePoison);
    addresses[emitted.output.name] = output.address();
    auto& stream = timing_.stream();
    const auto launch = [&] {
        cuda::Arguments arguments;
        for (const auto& parameter : emitted.parameters)
            if (parameter == "num_elements")
                arguments.add(static_cast<int>(request.num_elements));
            else
                arguments.add(addresses.at(parameter));
        kernel.launch(stream, shape, arguments);
    };

    launch();
    stream.synchronize();
    results_.resize(std::max(results_.size(), output.bytes()));
    const std::span results(results_.data(), output.bytes());
    output.copy_out(results);
    const auto fault =
        judge_probe(answer_of(request.probe.name, names), results, element_bytes(emitted.output));
    entry.agreement = {true, fault.empty(), fault.empty() ? "the host's" : fault};
    if (!fault.empty()) {
        entry.outcome = Outcome::failed;
        return entry;
    }
    const auto moved = emitted.moves.value(names);
    entry.milliseconds =
        quartiles(timing_.time(launch, kWarmups, request.repeats, timing_.fits_cache(moved)));
    entry.runs = request.repeats;
    entry.bytes_per_second = static_cast<double>(moved) / (entry.milliseconds.median * 1e-3);
    entry.fraction = entry.bytes_per_second / bench_.ceiling.bytes_per_second;
    return entry;
}

}  // namespace segfold::bench
