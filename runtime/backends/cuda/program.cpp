#include "runtime/backends/cuda/program.h"

#include <algorithm>

#include "codegen/weave/line_map.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"

namespace segfold::cuda {

Variant variant_of(const DeviceInfo& gpu, const Emitted& emitted)
{
    return variant_of(architecture_for(gpu.compute_major, gpu.compute_minor), emitted);
}

Variant variant_of(const std::string& architecture, const Emitted& emitted)
{
    Variant variant{{emitted.source, emitted.stage + ".cu", architecture, {}}, {}};
    if (emitted.is_reproducible)
        variant.request.extra_options.emplace_back("--fmad=false");
    for (const auto& launch : emitted.launches)
        if (std::ranges::find(variant.kernels, launch.kernel) == variant.kernels.end())
            variant.kernels.push_back(launch.kernel);
    return variant;
}

std::vector<CompileRequest> requests_of(const DeviceInfo& gpu, std::span<const Emitted> texts)
{
    std::vector<CompileRequest> requests;
    for (const auto& text : texts)
        requests.push_back(variant_of(gpu, text).request);
    return requests;
}

LoadedText load(const Context& context, const Emitted& emitted, CompileCache* cache)
{
    const auto request = variant_of(context.info(), emitted).request;
    try {
        auto compiled =
            cache ? cache->get(request) : std::make_shared<const Compiled>(load_or_compile(request));
        Module module(context, *compiled, emitted.stage);
        return {std::move(compiled), std::move(module)};
    } catch (const DeviceError& error) {
        throw DeviceError(name_origins(error.what(), request.name, *emitted.lines));
    }
}

Program::Program(const LoadedText& text, const Operator& op, const Emitted& emitted,
                 const SegmentSizes& sizes, int num_multiprocessors)
    : bound_(op, emitted, sizes, num_multiprocessors)
{
    for (std::size_t i = 0; i < bound_.launches().size(); ++i) {
        const auto& launch = bound_.launches()[i];
        LaunchShape shape;
        shape.grid.x = static_cast<std::uint64_t>(launch.grid);
        shape.block.x = static_cast<std::uint64_t>(launch.block);
        shape.dynamic_shared_bytes = static_cast<std::size_t>(launch.shared_bytes);
        steps_.push_back({text.module.kernel(launch.kernel), shape});
        steps_.back().kernel.check_arguments(bound_.argument_sizes(i));
    }
}

void Program::bind_scratch(const std::function<std::uint64_t(std::size_t, const ScratchBuffer&)>& take)
{
    for (std::size_t i = 0; i < bound_.scratch().size(); ++i)
        bound_.bind_scratch(i, take(i, bound_.scratch()[i]));
}

void Program::launch(CUstream stream)
{
    for (std::size_t i = 0; i < steps_.size(); ++i)
        steps_[i].kernel.launch(stream, steps_[i].shape, bound_.arguments(i));
}

void Program::add_to(LaunchSequence& sequence)
{
    for (std::size_t i = 0; i < steps_.size(); ++i)
        sequence.add(steps_[i].kernel, steps_[i].shape, bound_.arguments(i), bound_.argument_sizes(i));
}

}  // namespace segfold::cuda
