#include "runtime/backends/cpu/program.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/processes/thread_pool.h"
#include "runtime/support/text_table.h"

namespace segfold::cpu {
namespace {

/// Alignment of scratch memory: one cache line.
constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t place) { return (place + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

LoadedText::LoadedText(const Operator& op, const Emitted& emitted)
    : module_(Module::of(emitted)),
      layout_(std::make_shared<const BoundLayout>(op, emitted)),
      num_parameters_(op.parameters.size())
{
    for (const auto& launch : emitted.launches)
        kernels_.emplace_back(launch.kernel, module_->kernel(launch.kernel));
}

Program::Program(std::shared_ptr<const LoadedText> text, const Emitted& emitted, const SegmentSizes& sizes)
    : text_(std::move(text)),
      form_(emitted.form),
      sizes_(sizes),
      bound_(text_->layout_, emitted, sizes, 1),
      outside_(text_->num_parameters_, 0)
{
    bound_.bind_outside(reinterpret_cast<std::uint64_t>(outside_.data()));
    std::size_t bytes = kAlignment;
    for (const auto& buffer : bound_.scratch())
        bytes += aligned(static_cast<std::size_t>(buffer.bytes));
    if (bytes > std::size_t{1} << 30)  // checking is slow
        require_memory(static_cast<double>(bytes),
                       "scratch memory for " + count_text(sizes.num_segments, "segment"));
    scratch_.resize(bytes);
    auto place = aligned(reinterpret_cast<std::uint64_t>(scratch_.data()));
    for (std::size_t i = 0; i < bound_.scratch().size(); ++i) {
        scratch_addresses_.push_back(place);
        bound_.bind_scratch(i, place);
        place += aligned(static_cast<std::size_t>(bound_.scratch()[i].bytes));
    }
    for (std::size_t i = 0; i < bound_.launches().size(); ++i) {
        const auto& launch = bound_.launches()[i];
        const auto entry =
            std::ranges::find(text_->kernels_, launch.kernel, &std::pair<std::string, Kernel>::first);
        Step step{entry->second, launch.grid, {}};
        // Kernels take structs by reference and scratch memory by address.
        for (std::size_t k = 0; k < launch.parameters.size(); ++k) {
            const auto buffer =
                std::ranges::find(bound_.scratch(), launch.parameters[k], &ScratchBuffer::name);
            step.arguments.push_back(
                buffer == bound_.scratch().end()
                    ? bound_.arguments(i)[k]
                    : reinterpret_cast<void*>(
                          scratch_addresses_[static_cast<std::size_t>(buffer - bound_.scratch().begin())]));
        }
        if (step.arguments.size() > Kernel::kMostArguments)
            throw InternalError("kernel " + launch.kernel + " takes more arguments than can be passed");
        steps_.push_back(std::move(step));
    }
}

void Program::bind_input(std::size_t parameter, const ArrayView& array)
{
    bound_.bind_input(parameter, reinterpret_cast<std::uint64_t>(array.data), array.length);
}

void Program::bind_segments(const Segments& segments)
{
    given_ = segment_arrays(segments, form_);
    found_ = found_arrays(segments, form_);
    std::array<std::uint64_t, 3> addresses = {};
    std::size_t count = 0;
    for (const auto* arrays : {&given_, &found_})
        for (const auto& named : *arrays)
            addresses.at(count++) = reinterpret_cast<std::uint64_t>(named.array.data());
    bound_.bind_segments(std::span(addresses).first(count));
}

Program::Program(const Workload& workload, const Emitted& emitted)
    : Program(workload.op, emitted, sizes_of(workload.segments, workload.num_features))
{
    for (std::size_t i = 0; i < workload.arrays.size(); ++i)
        bind_input(i, view_of(workload.arrays[i]));
    bind_segments(workload.segments);
}

void Program::run(const Workload& workload, Results& results)
{
    std::vector<MutableArrayView> into;
    for (auto& [name, array] : results)
        into.push_back(room_in(array));
    run(into);
    refuse_noted_reads(workload, outside_);
    take_found(results, found_, workload.segments, workload.op.outputs.size());
}

void Program::run(std::span<const MutableArrayView> results)
{
    std::ranges::fill(outside_, 0);
    bound_.bind_results(results);
    try {
        for (const auto& step : steps_)
            ThreadPool::shared().run(step.parts,
                                     [&step](std::int64_t part) { step.entry.run(part, step.arguments); });
    } catch (const Stopped&) {
        fill_scratch(true, 0);  // an interrupted run did not clear scratch memory for the next run
        throw;
    }
}

void Program::poison_scratch(std::uint8_t byte) { fill_scratch(false, byte); }

void Program::fill_scratch(bool is_zero, std::uint8_t byte)
{
    for (std::size_t i = 0; i < scratch_addresses_.size(); ++i)
        if (bound_.scratch()[i].zero == is_zero)
            std::memset(reinterpret_cast<void*>(scratch_addresses_[i]), byte,
                        static_cast<std::size_t>(bound_.scratch()[i].bytes));
}

}  // namespace segfold::cpu
