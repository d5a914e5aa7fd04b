#include "runtime/bench/agreement.h"

#include <fmt/format.h>

#include <cstring>

#include "dsl/error.h"
#include "runtime/backends/cuda/kernel_cache.h"
#include "runtime/backends/cuda/module.h"
#include "runtime/bench/kernels.h"
#include "runtime/judge/reference.h"

namespace segfold::bench {
namespace {

/// What the kernels count; the same struct stands in their text.
struct Difference {
    unsigned long long bits = 0;       ///< values that differ in some bit
    unsigned long long beyond = 0;     ///< values that differ by more than the tolerance
    unsigned long long first = ~0ull;  ///< the first segment with one of the latter
};

std::string kernel_for(Type type)
{
    return is_float(type) ? fmt::format("compare_{}", name(type))
                          : fmt::format("compare_raw{}", size_bytes(type));
}

cuda::Module load_compare_kernels(const cuda::Context& context)
{
    const auto& info = context.info();
    const auto architecture = cuda::architecture_for(info.compute_major, info.compute_minor);
    return {context,
            cuda::load_or_compile(
                {std::string(kernels("compare.cu")), "compare.cu", architecture, {"--std=c++20"}}),
            "compare.cu"};
}

/// Results of the host with those of the segments that a peer by key did not see, and in their segments'
/// places.
Results placed(Results results, const Results& reference, Filled filled, const SegmentKeys& keys)
{
    if (keys.segment_of_run.bytes() == 0)
        return results;
    const auto places = keys.segment_of_run.to_host<std::int32_t>();
    Results all;
    for (std::size_t f = 0; f < results.size(); ++f) {
        auto array = reference[f].array.copy();
        const auto size = size_bytes(array.type());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto segment = static_cast<std::size_t>(places[i]);
            std::memcpy(array.data() + segment * size,
                        results[f].array.data() + (filled.is_compacted ? i : segment) * size, size);
        }
        all.push_back({results[f].name, std::move(array)});
    }
    return all;
}

}  // namespace

double tolerance(Type type)
{
    switch (type) {
        case Type::f64:
            return 1e-9;
        case Type::f16:
            return 0.05;
        case Type::bf16:
            return 0.2;
        default:
            return 1e-3;
    }
}

Agreements::Agreements(const cuda::Context& context, cuda::Stream& stream, const Workload& workload,
                       const cuda::ResidentWorkload& resident)
    : context_(context),
      stream_(stream),
      workload_(workload),
      resident_(resident),
      is_exact_(is_exact(workload.op))
{
    if (workload.segments.num_elements <= kMostJudged)
        judge_ = std::make_unique<Judge>(workload);
}

Agreements::~Agreements() = default;

Agreement Agreements::check(const std::string& name, Filled filled, const SegmentKeys* keys)
{
    if (filled.is_by_key && keys == nullptr)
        throw InternalError("results of " + name + " cannot be placed without the keys");
    if (judge_)
        return against_reference(filled, keys);
    if (!first_name_.empty())
        return against_first(filled, keys);
    if (filled.is_by_key && keys->segment_of_run.bytes() != 0)
        return {false, true, "nothing to compare with"};
    first_name_ = name;
    for (const auto& buffer : resident_.result_arrays().buffers) {
        first_.emplace_back(context_, buffer.bytes());
        first_.back().copy_from(buffer, stream_);
    }
    stream_.synchronize();
    return {false, true, "the first, others are compared with it"};
}

Agreement Agreements::against_reference(Filled filled, const SegmentKeys* keys)
{
    auto results = resident_.results();
    if (filled.is_by_key)
        results = placed(std::move(results), judge_->reference(), filled, *keys);
    const auto comparison = judge_->compare(results);
    return {true, comparison.agrees(), comparison.agrees() ? "reference" : print(comparison)};
}

Agreement Agreements::against_first(Filled filled, const SegmentKeys* keys)
{
    if (!module_)
        module_ = load_compare_kernels(context_);
    const bool has_places = filled.is_by_key && keys->segment_of_run.bytes() != 0;
    const auto count = filled.is_by_key ? keys->num_runs : workload_.segments.num_segments;
    const auto grid = static_cast<std::uint64_t>(context_.info().multiprocessors) * 8;
    bool same_bits = true;
    for (std::size_t f = 0; f < first_.size(); ++f) {
        const auto& field = workload_.op.results[f];
        Difference difference;
        cuda::DeviceBuffer counted(context_, std::as_bytes(std::span(&difference, 1)));
        cuda::Arguments arguments;
        arguments.add(resident_.result_arrays().buffers[f])
            .add(first_[f])
            .add(has_places ? keys->segment_of_run.address() : cuda::CUdeviceptr{0})
            .add(static_cast<long long>(count))
            .add(static_cast<int>(filled.is_compacted && has_places))
            .add(is_exact_ ? 0.0 : tolerance(field.type))
            .add(counted);
        module_->kernel(kernel_for(field.type)).launch(stream_, {.grid = {grid}, .block = {256}}, arguments);
        stream_.synchronize();
        difference = counted.to_host<Difference>()[0];
        same_bits = same_bits && difference.bits == 0;
        if (difference.beyond != 0)
            return {true, false,
                    fmt::format("{} of {} segments differ from {} in field {}, the first is segment {}",
                                difference.beyond, count, first_name_, field.name, difference.first)};
    }
    return {true, true, first_name_ + (same_bits ? ", bit for bit" : ", within rounding")};
}

}  // namespace segfold::bench
