#include "runtime/backends/cuda/resident_workload.h"

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/error.h"

namespace segfold::cuda {
namespace {

std::span<const std::byte> bytes_of(const Array& array) { return {array.data(), array.bytes()}; }

std::shared_ptr<const ResidentArrays> copy_inputs(const Context& context, const Workload& workload)
{
    check_workload(workload);
    auto inputs = std::make_shared<ResidentArrays>();
    for (const auto& array : workload.arrays)
        inputs->add(context, array);
    return inputs;
}

}  // namespace

void ResidentArrays::add(DeviceBuffer buffer)
{
    addresses.push_back(buffer.address());
    lengths.push_back(0);
    buffers.push_back(std::move(buffer));
}

void ResidentArrays::add(const Context& context, const Array& array)
{
    add(DeviceBuffer(context, bytes_of(array)));
    lengths.back() = static_cast<std::int64_t>(array.length());
}

void ResidentArrays::add_shifted(const Context& context, const Array& array, int shifted_elements)
{
    const auto skipped_bytes = static_cast<std::size_t>(shifted_elements) * size_bytes(array.type());
    DeviceBuffer buffer(context, skipped_bytes + array.bytes());
    buffer.copy_in(bytes_of(array), skipped_bytes);
    add(std::move(buffer));
    addresses.back() += skipped_bytes;
    lengths.back() = static_cast<std::int64_t>(array.length());
}

std::size_t ResidentArrays::bytes() const
{
    std::size_t all = 0;
    for (const auto& buffer : buffers)
        all += buffer.bytes();
    return all;
}

ResidentWorkload::ResidentWorkload(const Context& context, const Workload& workload)
    : ResidentWorkload(context, workload, copy_inputs(context, workload))
{}

ResidentWorkload::ResidentWorkload(const Context& context, const Workload& workload,
                                   std::shared_ptr<const ResidentArrays> inputs)
    : context_(&context),
      workload_(workload),
      inputs_(std::move(inputs)),
      outside_(context, workload.op.parameters.size() * sizeof(std::uint32_t))
{
    outside_.zero();
    const auto& op = workload.op;
    const auto form = kernel_form(op, workload.segments.form);
    found_ = found_arrays(workload.segments, form);
    fields_ = returned_fields(op);
    const auto width = workload.num_features;
    const auto room =
        width * (is_found(form) ? workload.segments.num_elements : workload.segments.num_segments);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const bool is_output = i + op.outputs.size() >= fields_.size();
        rooms_.push_back(is_output ? width * workload.segments.num_elements : room);
        results_.add(
            DeviceBuffer(context, static_cast<std::size_t>(rooms_[i]) * size_bytes(fields_[i].type)));
    }
    poison_results();
}

const ResidentArrays& ResidentWorkload::segments_as(SegmentForm form) const
{
    const auto [place, is_new] = segments_.try_emplace(form);
    auto& arrays = place->second;
    if (!is_new)
        return arrays;
    const auto& segments = workload_.segments;
    if (form == SegmentForm::offsets)
        arrays.add(*context_, segments.offsets);
    else
        for (const auto& named : segment_arrays(segments, form))
            arrays.add(*context_, named.array);
    for (const auto& named : found_arrays(segments, form))
        arrays.add(*context_, named.array);
    return arrays;
}

DeviceBuffer* ResidentWorkload::found_buffer(std::size_t i) const
{
    const auto group = segments_.find(workload_.segments.form);
    if (group == segments_.end())
        return nullptr;
    auto& all = group->second.buffers;
    return &all[all.size() - found_.size() + i];
}

void ResidentWorkload::poison_results(std::uint8_t poison)
{
    for (std::size_t i = 0; i < results_.buffers.size(); ++i)
        // Outputs of elements outside of all segments must be zero.
        if (fields_[i].type == Type::boolean || (i + workload_.op.outputs.size() >= fields_.size() &&
                                                 workload_.segments.form == SegmentForm::ranges))
            results_.buffers[i].zero();
        else
            results_.buffers[i].fill_with(poison);
    for (std::size_t i = 0; i < found_.size(); ++i)
        if (auto* buffer = found_buffer(i))
            buffer->copy_in(bytes_of(found_[i].array));
}

Results ResidentWorkload::results() const
{
    std::vector<std::uint32_t> outside(workload_.op.parameters.size());
    outside_.copy_out(std::as_writable_bytes(std::span(outside)));
    refuse_noted_reads(workload_, outside);
    Results results;
    for (std::size_t i = 0; i < results_.buffers.size(); ++i) {
        const auto& field = fields_[i];
        Array array(field.type, static_cast<std::size_t>(rooms_[i]));
        if (has_rows(workload_.op))
            array.set_row_length(static_cast<std::size_t>(workload_.num_features));
        results_.buffers[i].copy_out({array.data(), array.bytes()});
        results.push_back({field.name, std::move(array)});
    }
    std::vector<NamedArray> found;
    for (std::size_t i = 0; i < found_.size(); ++i) {
        auto array = found_[i].array.copy();
        if (const auto* buffer = found_buffer(i))
            buffer->copy_out({array.data(), array.bytes()});
        found.push_back({found_[i].name, std::move(array)});
    }
    take_found(results, found, workload_.segments, workload_.op.outputs.size(), true);
    return results;
}

}  // namespace segfold::cuda
