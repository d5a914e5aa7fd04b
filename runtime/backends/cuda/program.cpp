#include "runtime/backends/cuda/program.h"

#include <algorithm>

#include "codegen/weave/line_map.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/resident_workload.h"

namespace segfold::cuda {
namespace {

LaunchShape shape_of(const KernelLaunch& launch)
{
    return {.grid = {static_cast<std::uint64_t>(launch.grid)},
            .block = {static_cast<std::uint64_t>(launch.block)},
            .dynamic_shared_bytes = static_cast<std::size_t>(launch.shared_bytes)};
}

}  // namespace

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

LoadedText::LoadedText(const Context& context, const Emitted& emitted, CompileCache* cache)
    : context_(context)
{
    const auto variant = variant_of(context.info(), emitted);
    const auto& request = variant.request;
    try {
        compiled_ = cache ? cache->get(request) : std::make_shared<const Compiled>(load_or_compile(request));
        const Module module(context, *compiled_, emitted.stage);
        for (const auto& kernel : variant.kernels)
            kernels_.emplace(kernel, module.kernel(kernel));
    } catch (const DeviceError& error) {
        throw DeviceError(name_origins(error.what(), request.name, *emitted.lines));
    }
}

Program::Program(std::shared_ptr<const LoadedText> text, const Operator& op, const Emitted& emitted,
                 const SegmentSizes& sizes, const MakeBuffer& make, CUstream queue)
    : text_(std::move(text)),
      bound_(op, emitted, sizes, text_->context_.info().multiprocessors),
      sequence_(text_->context_)
{
    for (std::size_t i = 0; i < bound_.launches().size(); ++i) {
        const auto& launch = bound_.launches()[i];
        sequence_.add(text_->kernels_.at(launch.kernel), shape_of(launch), bound_.arguments(i),
                      bound_.argument_sizes(i));
    }
    for (const auto& buffer : bound_.scratch()) {
        const auto bytes = static_cast<std::size_t>(buffer.bytes);
        scratch_.push_back(make ? make(bytes) : DeviceBuffer(text_->context_, bytes));
        if (buffer.zero)
            scratch_.back().zero(queue);
        bound_.bind_scratch(scratch_.size() - 1, scratch_.back().address());
    }
}

Program::Program(const Context& context, const ResidentWorkload& resident, const Emitted& emitted,
                 CompileCache* cache)
    : Program(std::make_shared<const LoadedText>(context, emitted, cache), resident.workload().op, emitted,
              sizes_of(resident.workload().segments, resident.workload().num_features))
{
    const auto& inputs = resident.inputs();
    for (std::size_t i = 0; i < inputs.addresses.size(); ++i)
        bound_.bind_input(i, inputs.addresses[i], inputs.lengths[i]);
    bound_.bind_outside(resident.outside_address());
    bound_.bind_segments(resident.segments_as(emitted.form).addresses);
    bound_.bind_results(resident.result_arrays().addresses);
}

void Program::launch(CUstream stream)
{
    const CurrentContext current(text_->context_);
    sequence_.run(stream);
}

void Program::poison_scratch(std::uint8_t byte)
{
    for (std::size_t i = 0; i < scratch_.size(); ++i)
        if (!bound_.scratch()[i].zero)
            scratch_[i].fill_with(byte);
}

std::vector<KernelUse> Program::kernels() const
{
    std::vector<KernelUse> kernels;
    for (const auto& launch : bound_.launches()) {
        const auto& kernel = text_->kernels_.at(launch.kernel);
        const auto shape = shape_of(launch);
        const auto& known = text_->compiled_->resources;
        const auto found = std::ranges::find(known, launch.kernel, &KernelResources::kernel);
        const auto reported = found != known.end() ? *found : kernel.resources();
        KernelUse use;
        use.kernel = reported.kernel;
        use.grid = launch.grid;
        use.block_threads = launch.block;
        use.registers = reported.registers;
        use.spill_bytes = reported.spill_store_bytes + reported.spill_load_bytes;
        use.local_bytes = reported.stack_bytes;
        use.shared_bytes = reported.static_shared_bytes + launch.shared_bytes;
        use.resident_blocks = kernel.resident_blocks(launch.block, shape.dynamic_shared_bytes);
        use.occupancy = static_cast<double>(use.resident_blocks * use.block_threads) /
                        text_->context_.info().max_threads_per_multiprocessor;
        kernels.push_back(std::move(use));
    }
    return kernels;
}

}  // namespace segfold::cuda
