#include "runtime/cuda/cuda_backend.h"

#include <map>

#include "runtime/cuda/module.h"
#include "runtime/launch_plan.h"

namespace segfold::cuda {
namespace {

std::span<const std::byte> bytes_of(const Array& array)
{
    return {array.data(), array.bytes()};
}

}  // namespace

struct ResidentWorkload::Buffers {
    /// Buffers and their addresses, in order.
    struct Group {
        std::vector<DeviceBuffer> buffers;
        std::vector<std::uint64_t> addresses;

        void add(const Context& context, const Array& array)
        {
            buffers.emplace_back(context, bytes_of(array));
            addresses.push_back(buffers.back().address());
        }
    };
    Group inputs, results;
    std::map<SegmentForm, Group> segments;  ///< in each form that a plan has asked for
    Results poison;                         ///< as allocate_results gives it
    std::vector<NamedArray> found;          ///< as found_arrays gives it; the last buffers of its form

    /// The segments in a form that they have; copied when a plan asks first.
    Group& segments_as(const Context& context, const Segments& host, SegmentForm form)
    {
        const auto [place, is_new] = segments.try_emplace(form);
        if (is_new) {
            for (const auto& named : segment_arrays(host, form))
                place->second.add(context, named.array);
            for (const auto& named : found_arrays(host, form))
                place->second.add(context, named.array);
        }
        return place->second;
    }

    /// The buffer of found[i]; none where no plan has asked for the segments in their own form.
    DeviceBuffer* found_buffer(SegmentForm form, std::size_t i)
    {
        const auto group = segments.find(form);
        if (group == segments.end())
            return nullptr;
        auto& all = group->second.buffers;
        return &all[all.size() - found.size() + i];
    }
};

ResidentWorkload::ResidentWorkload(const Context& context, const Workload& workload)
    : workload_(workload), buffers_(std::make_unique<Buffers>())
{
    check_workload(workload);
    for (const auto& array : workload.arrays)
        buffers_->inputs.add(context, array);
    const auto form = workload.segments.form;
    buffers_->found = found_arrays(workload.segments, form);
    buffers_->poison = allocate_results(workload, form);
    for (const auto& named : buffers_->poison)
        buffers_->results.add(context, named.array);
}

ResidentWorkload::~ResidentWorkload() = default;
ResidentWorkload::ResidentWorkload(ResidentWorkload&&) noexcept = default;

void ResidentWorkload::poison_results()
{
    for (std::size_t i = 0; i < buffers_->poison.size(); ++i)
        buffers_->results.buffers[i].copy_in(bytes_of(buffers_->poison[i].array));
    for (std::size_t i = 0; i < buffers_->found.size(); ++i)
        if (auto* buffer = buffers_->found_buffer(workload_.segments.form, i))
            buffer->copy_in(bytes_of(buffers_->found[i].array));
}

Results ResidentWorkload::results() const
{
    Results results;
    for (std::size_t i = 0; i < buffers_->poison.size(); ++i) {
        auto array = buffers_->poison[i].array.copy();
        buffers_->results.buffers[i].copy_out({array.data(), array.bytes()});
        results.push_back({buffers_->poison[i].name, std::move(array)});
    }
    std::vector<NamedArray> found;
    for (std::size_t i = 0; i < buffers_->found.size(); ++i) {
        auto array = buffers_->found[i].array.copy();
        if (const auto* buffer = buffers_->found_buffer(workload_.segments.form, i))
            buffer->copy_out({array.data(), array.bytes()});
        found.push_back({buffers_->found[i].name, std::move(array)});
    }
    take_found(results, found, workload_.segments, true);
    return results;
}

struct LoadedPlan::State {
    struct Step {
        Kernel kernel;
        LaunchShape shape;
        std::vector<std::string> parameters;
    };
    std::shared_ptr<const Compiled> compiled;
    std::vector<DeviceBuffer> scratch;
    std::map<std::string, std::vector<std::byte>> values;  ///< parameter name -> its bytes
    std::vector<Step> steps;
};

LoadedPlan::LoadedPlan(const Context& context, ResidentWorkload& resident, const Emitted& emitted,
                       const std::string& name, CompileCache* cache)
    : state_(std::make_unique<State>())
{
    auto& state = *state_;
    const auto& segments = resident.workload().segments;
    const auto& info = context.info();
    const CompileRequest request{emitted.source, name + ".cu",
                                 architecture_for(info.compute_major, info.compute_minor), {}};
    state.compiled = cache ? cache->get(request) : std::make_shared<const Compiled>(compile(request));
    const Module module(context, *state.compiled, name);

    auto& buffers = resident.buffers();
    state.values["inputs"] = pack_pointers(buffers.inputs.addresses);
    const auto& places = buffers.segments_as(context, segments, emitted.form).addresses;
    state.values["segments"] = pack_segments(segments, emitted.form, places);
    state.values["results"] = pack_pointers(buffers.results.addresses);
    const auto plan = plan_launches(emitted, segments, info.multiprocessors);
    for (const auto& [scratch, bytes, zero] : plan.scratch) {
        state.scratch.emplace_back(context, static_cast<std::size_t>(bytes));
        if (zero)
            state.scratch.back().zero();
        state.values[scratch] = pack_pointers(std::vector<std::uint64_t>{state.scratch.back().address()});
    }
    for (const auto& launch : plan.launches) {
        LaunchShape shape;
        shape.grid.x = static_cast<std::uint64_t>(launch.grid);
        shape.block.x = static_cast<std::uint64_t>(launch.block);
        state.steps.push_back({module.kernel(launch.kernel), shape, launch.parameters});
    }
}

LoadedPlan::~LoadedPlan() = default;
LoadedPlan::LoadedPlan(LoadedPlan&&) noexcept = default;

void LoadedPlan::launch(Stream& stream) const
{
    for (const auto& step : state_->steps) {
        Arguments arguments;
        for (const auto& parameter : step.parameters)
            arguments.add_bytes(state_->values.at(parameter));
        step.kernel.launch(stream, step.shape, arguments);
    }
}

const std::vector<KernelResources>& LoadedPlan::resources() const
{
    return state_->compiled->resources;
}

double LoadedPlan::compile_seconds() const
{
    return state_->compiled->seconds;
}

Results run(const Context& context, const Workload& workload, const Emitted& emitted, const std::string& name)
{
    ResidentWorkload resident(context, workload);
    const LoadedPlan plan(context, resident, emitted, name);
    Stream stream(context);
    plan.launch(stream);
    stream.synchronize();
    return resident.results();
}

}  // namespace segfold::cuda
