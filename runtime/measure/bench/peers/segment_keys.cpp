#include "runtime/measure/bench/peers/segment_keys.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "codegen/embedded_kernels.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/driver/module.h"

namespace segfold::bench {
namespace {

/// Returns the indices of non-empty segments. Returns an empty list if all segments have elements.
std::vector<std::int32_t> non_empty_segments(const Segments& segments)
{
    std::vector<std::int32_t> found;
    if (segments.form != SegmentForm::offsets || length_range(segments).shortest != 0)
        return found;
    found.reserve(static_cast<std::size_t>(segments.num_segments));
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        if (segments.length(s) != 0)
            found.push_back(static_cast<std::int32_t>(s));
    return found;
}

}  // namespace

SegmentKeys::SegmentKeys(const cuda::Context& context, cuda::Stream& stream,
                         const cuda::ResidentWorkload& resident)
{
    const auto& segments = resident.workload().segments;
    if (segments.form == SegmentForm::ranges)
        throw InputError("elements of ranges have no key: ranges may overlap");
    if (segments.num_segments > std::numeric_limits<std::int32_t>::max())
        throw InputError(
            fmt::format("{} segments are more than keys of i32 can count", segments.num_segments));
    const auto elements = static_cast<std::size_t>(segments.num_elements);
    const auto runs = non_empty_segments(segments);
    num_runs = runs.empty() ? segments.num_segments : static_cast<std::int64_t>(runs.size());
    if (!runs.empty())
        segment_of_run = cuda::DeviceBuffer(context, std::as_bytes(std::span(runs)));
    keys = cuda::DeviceBuffer(context, elements * sizeof(std::int32_t));
    unique_keys = cuda::DeviceBuffer(context, static_cast<std::size_t>(num_runs) * sizeof(std::int32_t));
    counted_runs = cuda::DeviceBuffer(context, sizeof(std::int32_t));
    if (elements == 0)
        return;

    const auto& info = context.info();
    const auto architecture = cuda::architecture_for(info.compute_major, info.compute_minor);
    const cuda::Module module(
        context,
        cuda::load_or_compile({std::string(kernel_text("measuring/keys.cu")), "keys.cu", architecture, {}}),
        "keys.cu");
    cuda::Arguments arguments;
    const auto count = static_cast<long long>(segments.num_elements);
    const cuda::LaunchShape shape{.grid = {static_cast<std::uint64_t>(info.multiprocessors) * 16},
                                  .block = {256}};
    // If segments are given as flags or keys, only the host has their offsets, so these are copied to the
    // GPU.
    cuda::DeviceBuffer found;
    if (is_found(segments.form))
        found = cuda::DeviceBuffer(context, {segments.offsets.data(), segments.offsets.bytes()});
    if (segments.form == SegmentForm::offsets || is_found(segments.form)) {
        const auto* kernel = segments.index_bits() == 64 ? "keys_of_offsets64" : "keys_of_offsets32";
        arguments.add(is_found(segments.form) ? found : resident.segments().buffers[0])
            .add(static_cast<long long>(segments.num_segments))
            .add(count)
            .add(keys);
        module.kernel(kernel).launch(stream, shape, arguments);
    } else {
        const auto length =
            segments.form == SegmentForm::uniform ? segments.uniform_length : segments.num_elements;
        arguments.add(static_cast<long long>(length)).add(count).add(keys);
        module.kernel("keys_of_length").launch(stream, shape, arguments);
    }
    stream.synchronize();
}

Filled SegmentKeys::filled(bool is_compacted) const
{
    Filled filled{.is_by_key = true, .is_compacted = is_compacted, .num_runs = num_runs};
    if (segment_of_run.bytes() != 0) {
        filled.places = segment_of_run.address();
        filled.places_on_host = [this] { return segment_of_run.to_host<std::int32_t>(); };
    }
    return filled;
}

}  // namespace segfold::bench
