#include "runtime/backends/simt_backend.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "dsl/check/rows.h"
#include "runtime/backends/bound_plan.h"
#include "runtime/simt/execution/region.h"
#include "runtime/support/processes/memory_at_hand.h"

namespace segfold::simt {
namespace {

std::uint64_t address(Buffer& buffer) { return reinterpret_cast<std::uint64_t>(buffer.data()); }

/// Makes a buffer with a copy of the array. The copy begins at byte `skipped_bytes` of the buffer.
Buffer upload_array(const std::string& name, const Array& array, std::size_t skipped_bytes = 0)
{
    Buffer buffer(name, skipped_bytes + array.bytes());
    if (array.bytes() != 0)
        std::memcpy(buffer.data() + skipped_bytes, array.data(), array.bytes());
    return buffer;
}

/// Buffers, and the address of the array in each.
struct Buffers {
    std::vector<Buffer> buffers;
    std::vector<std::uint64_t> addresses;

    void add(Buffer buffer, std::size_t skipped_bytes = 0)
    {
        buffers.push_back(std::move(buffer));
        addresses.push_back(address(buffers.back()) + skipped_bytes);
    }

    void add_input(const std::string& name, const Array& array, int shifted_elements)
    {
        const auto skipped_bytes = static_cast<std::size_t>(shifted_elements) * size_bytes(array.type());
        add(upload_array(name, array, skipped_bytes), skipped_bytes);
    }
};

/// Copies the array again into a buffer that upload_array() has made.
void refill(Buffer& buffer, const Array& array, std::size_t skipped_bytes = 0)
{
    if (array.bytes() != 0)
        std::memcpy(buffer.data() + skipped_bytes, array.data(), array.bytes());
}

/// Returns the name of a parameter or result for messages. It is "the input 'scale'" if a parameter and a
/// result are both called scale, else the name alone.
std::string buffer_name(const Operator& op, const std::string& name, std::string_view kind)
{
    const auto returned = returned_fields(op);
    const bool is_both = std::ranges::find(op.parameters, name, &Parameter::name) != op.parameters.end() &&
                         std::ranges::find(returned, name, &ResultField::name) != returned.end();
    return is_both ? "the " + std::string(kind) + " '" + name + "'" : name;
}

/// Copies the arrays of `segments` into buffers that were made for other segments in `form`.
void refill_segments(std::vector<Buffer>& buffers, const Segments& segments, SegmentForm form,
                     int shifted_elements)
{
    std::size_t i = 0;
    for (const auto& [name, array] : segment_arrays(segments, form)) {
        const auto skipped_bytes = static_cast<std::size_t>(shifted_elements) * size_bytes(array.type());
        if (buffers[i].bytes() != skipped_bytes + array.bytes())
            throw InputError("simt: " + name + " of the earlier launches has " +
                             std::to_string(array.bytes()) + " bytes; the last one's has " +
                             std::to_string(buffers[i].bytes() - skipped_bytes));
        refill(buffers[i++], array, skipped_bytes);
    }
}

Program compile(const Emitted& emitted, CompileOptions options)
{
    options.lines = emitted.lines;
    std::vector<std::string> kernels;
    for (const auto& launch : emitted.launches)
        if (std::ranges::find(kernels, launch.kernel) == kernels.end())
            kernels.push_back(launch.kernel);
    return Program::compile(emitted.source, kernels, options);
}

/// Throws InputError if a workload's buffers do not fit memory. If accesses are checked, each word of four
/// bytes needs another 32 bytes for the checks.
void require_room(const Workload& workload, const Emitted& emitted,
                  std::span<const ScratchBuffer> all_scratch, bool is_checked)
{
    constexpr double kCellBytes = 8;
    double bytes = 0;
    for (const auto& array : workload.arrays)
        bytes += static_cast<double>(array.bytes());
    const auto& segments = workload.segments;
    const auto index_bytes = static_cast<double>(size_bytes(segments.index_type()));
    const bool finds = is_found(emitted.form);
    const auto rows = static_cast<double>(finds ? segments.num_elements : segments.num_segments);
    for (const auto& field : workload.op.results)
        bytes +=
            rows * static_cast<double>(size_bytes(field.type)) * static_cast<double>(workload.num_features);
    for (const auto& field : workload.op.outputs)
        bytes += static_cast<double>(segments.num_elements) * static_cast<double>(size_bytes(field.type)) *
                 static_cast<double>(workload.num_features);
    if (emitted.form == SegmentForm::offsets || emitted.form == SegmentForm::ranges)
        bytes += rows * index_bytes * (emitted.form == SegmentForm::ranges ? 2 : 1);
    for (const auto& scratch : all_scratch)
        bytes += static_cast<double>(scratch.bytes);
    require_memory(bytes * (is_checked ? 1 + kCellBytes : 1),
                   "the buffers of simt for " + std::to_string(segments.num_elements) + " elements");
}

/// Returns "segment 3 (elements 40 to 47)", "segment 4 (empty)", or "segment 5" if the data have no such
/// segment.
std::string segment_text(const Segments& segments, std::int64_t segment)
{
    const auto text = "segment " + std::to_string(segment);
    if (segment >= segments.num_segments)
        return text;
    const auto begin = segments.begin(segment), end = segments.end(segment);
    return text + (begin == end
                       ? " (empty)"
                       : " (elements " + std::to_string(begin) + " to " + std::to_string(end - 1) + ")");
}

/// Throws SimtError if no thread has stored the result of a segment, or the output of an element inside a
/// segment.
void require_stored(const Workload& workload, const Emitted& emitted, std::span<const Buffer> outputs,
                    const Results& results)
{
    const auto num_outputs = workload.op.outputs.size();
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto bytes = size_bytes(results[i].array.type());
        const auto width =
            bytes * static_cast<std::size_t>(has_rows(workload.op) ? workload.num_features : 1);
        const bool is_output = i + num_outputs >= results.size();
        // Elements outside of all ranges have no output.
        if (is_output && emitted.form == SegmentForm::ranges)
            continue;
        const auto count = results[i].array.bytes() / std::max<std::size_t>(width, 1);
        std::int64_t missing = 0;
        std::size_t first = 0;
        for (std::size_t k = count; k-- > 0;)
            if (!outputs[i].is_written(k * width, width)) {
                first = k;
                ++missing;
            }
        if (missing == 0)
            continue;
        const auto of = is_output ? "element " + std::to_string(first)
                                  : segment_text(workload.segments, static_cast<std::int64_t>(first));
        throw SimtError(Fault::uninitialised,
                        "kernel " + emitted.launches.back().kernel + ": no thread has stored " +
                            shown_name(outputs[i].name()) + " of " + of +
                            (missing == 1 ? "" : ", nor of " + std::to_string(missing - 1) + " more"));
    }
}

}  // namespace

Results run(const Workload& workload, const Emitted& emitted, const Options& asked,
            const CompileOptions& compile_options, int num_multiprocessors, int num_launches,
            int shifted_elements, std::optional<std::uint8_t> scratch_poison, RunTimes* times,
            const Segments* earlier)
{
    check_workload(workload);
    auto options = asked;
    options.lines = emitted.lines;
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto program = compile(emitted, compile_options);
    const double compile_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    double kernel_seconds = 0;
    BoundPlan plan(workload.op, emitted, sizes_of(workload.segments, workload.num_features),
                   num_multiprocessors);

    require_room(workload, emitted, plan.scratch(), compile_options.shadow_check);
    Buffers inputs, segments, outputs;
    const auto form = emitted.form;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        inputs.add_input(buffer_name(workload.op, workload.op.parameters[i].name, "input"),
                         workload.arrays[i], shifted_elements);
        plan.bind_input(i, inputs.addresses.back(), static_cast<std::int64_t>(workload.arrays[i].length()));
    }
    std::vector<std::uint32_t> outside(workload.arrays.size(), 0);
    Buffer outside_words = upload<std::uint32_t>("outside", std::span(std::as_const(outside)));
    for (const auto& [name, array] : segment_arrays(workload.segments, form))
        segments.add_input(name, array, shifted_elements);
    auto found = found_arrays(workload.segments, form);
    for (const auto& [name, array] : found)
        segments.add(upload_array(name, array));
    auto results = allocate_results(workload, form);
    for (const auto& [name, array] : results)
        outputs.add(upload_array(buffer_name(workload.op, name, "result"), array));

    plan.bind_outside(address(outside_words));
    plan.bind_segments(segments.addresses);
    plan.bind_results(outputs.addresses);
    std::vector<Buffer> scratch;
    for (const auto& [name, bytes, zero, result] : plan.scratch()) {
        scratch.push_back(allocate(name, static_cast<std::size_t>(bytes)));
        if (zero || scratch_poison)
            std::memset(scratch.back().data(), zero ? 0 : *scratch_poison, scratch.back().bytes());
        plan.bind_scratch(scratch.size() - 1, address(scratch.back()));
    }

    const auto launch_all = [&] {
        for (std::size_t i = 0; i < plan.launches().size(); ++i) {
            const auto& launch = plan.launches()[i];
            Dimensions dimensions;
            dimensions.grid_x = static_cast<unsigned>(launch.grid);
            dimensions.block_x = static_cast<unsigned>(launch.block);
            dimensions.dynamic_shared_bytes = static_cast<unsigned>(launch.shared_bytes);
            kernel_seconds += program
                                  .launch(launch.kernel, dimensions,
                                          {plan.arguments(i), plan.argument_sizes(i).size()}, options)
                                  .seconds;
        }
    };
    if (earlier)
        refill_segments(segments.buffers, *earlier, form, shifted_elements);
    for (int i = 0; i + 1 < num_launches; ++i) {
        launch_all();
        for (std::size_t k = 0; k < results.size(); ++k) {
            refill(outputs.buffers[k], results[k].array);
            outputs.buffers[k].forget_writes();
        }
        for (std::size_t k = 0; k < found.size(); ++k)
            refill(segments.buffers[segments.buffers.size() - found.size() + k], found[k].array);
    }
    if (earlier)
        refill_segments(segments.buffers, workload.segments, form, shifted_elements);
    launch_all();
    std::memcpy(outside.data(), outside_words.data(), outside_words.bytes());
    refuse_noted_reads(workload, outside);
    if (times) {
        times->compile_seconds = compile_seconds;
        times->kernel_seconds = kernel_seconds;
    }
    const auto copy_back = [](Array& array, Buffer& buffer) {
        if (array.bytes() != 0)
            std::memcpy(array.data(), buffer.data(), array.bytes());
    };
    for (std::size_t i = 0; i < results.size(); ++i)
        copy_back(results[i].array, outputs.buffers[i]);
    for (std::size_t i = 0; i < found.size(); ++i)
        copy_back(found[i].array, segments.buffers[segments.buffers.size() - found.size() + i]);
    take_found(results, found, workload.segments, workload.op.outputs.size());
    if (compile_options.shadow_check && options.shadow_check)
        require_stored(workload, emitted, outputs.buffers, results);
    return results;
}

}  // namespace segfold::simt
