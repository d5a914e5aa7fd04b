#include "runtime/session/device_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "codegen/embedded_kernels.h"
#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/support/text_table.h"

namespace segfold {

namespace {

constexpr std::size_t kScalarBytes = 8;  // bytes of the widest type
constexpr int kThreads = 256;
constexpr std::int64_t kTile = std::int64_t{kThreads} * 16;
constexpr std::int64_t kCheckingBlocks = 1024;

cuda::CUstream handle(CUstream_st* stream) { return reinterpret_cast<cuda::CUstream>(stream); }

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

cuda::LaunchShape shape_of(std::int64_t grid)
{
    cuda::LaunchShape shape;
    shape.grid.x = static_cast<std::uint64_t>(grid);
    shape.block.x = kThreads;
    return shape;
}

std::int64_t num_tiles_of(std::int64_t num_segments) { return (num_segments + kTile - 1) / kTile; }

/// Launches a kernel with the given arguments. Allocates nothing.
template <class... Arguments>
void launch(const cuda::Kernel& kernel, std::int64_t grid, CUstream_st* stream, Arguments... arguments)
{
    void* pointers[] = {&arguments...};
    kernel.launch(handle(stream), shape_of(grid), pointers);
}

/// True if a plan of these sizes makes or checks offsets.
bool makes_offsets(const PlanSizes& sizes, const PlanOptions& options)
{
    return sizes.kind == LayoutKind::lengths ||
           (options.validates_segments &&
            (sizes.kind == LayoutKind::offsets || sizes.kind == LayoutKind::ranges));
}

/// Returns an allocator that allocates and frees in the order of `stream`. While `stream` is being captured,
/// the graph owns the memory.
DeviceAllocator memory_of_graph(const cuda::Context& context, CUstream_st* stream)
{
    return {[context, stream](std::size_t bytes) {
                const cuda::CurrentContext current(context);
                cuda::CUdeviceptr made = 0;
                cuda::check(cuda::driver().cuMemAllocAsync(&made, bytes, handle(stream)), "cuMemAllocAsync");
                return reinterpret_cast<void*>(made);
            },
            [context, stream](void* memory) {
                const cuda::CurrentContext current(context);
                cuda::driver().cuMemFreeAsync(address(memory), handle(stream));
            }};
}

PlanOptions with_memory(PlanOptions options, const cuda::Context& context, CUstream_st* captured)
{
    if (captured != nullptr)
        options.scratch = memory_of_graph(context, captured);
    return options;
}

}  // namespace

cuda::CompileRequest item_offsets_request(const std::string& architecture, int index_bits)
{
    std::string source = index_bits == 64 ? "using Index = long long;\n" : "using Index = int;\n";
    source += kernel_text("measuring/item_offsets.cu");
    return {source, "item_offsets.cu", architecture, {}};
}

struct DevicePlan::Offsets {
    Offsets(const cuda::Context& context, int index_bits)
        : module(context, compiled(context, index_bits), "item_offsets"),
          make_offsets(module.kernel("make_offsets")),
          check_offsets(module.kernel("check_offsets")),
          check_ranges(module.kernel("check_ranges"))
    {}

    static cuda::Compiled compiled(const cuda::Context& context, int index_bits)
    {
        const auto& info = context.info();
        return cuda::load_or_compile(
            item_offsets_request(cuda::architecture_for(info.compute_major, info.compute_minor), index_bits));
    }

    cuda::Module module;
    cuda::Kernel make_offsets, check_offsets, check_ranges;
};

DevicePlan::DevicePlan(const cuda::Context& context, const Operator& op,
                       std::shared_ptr<const PlanChoice> choice, const PlanSizes& sizes,
                       const PlanOptions& options)
    : DevicePlan(std::make_shared<const cuda::LoadedText>(context, choice->emitted),
                 makes_offsets(sizes, options)
                     ? std::make_shared<const Offsets>(context, sizes.sizes.index_bits)
                     : nullptr,
                 op, choice, sizes, options, nullptr)
{}

DevicePlan::DevicePlan(const DevicePlan& other, const PlanSizes& sizes, CUstream_st* captured)
    : DevicePlan(other.program_.text(), other.makers_, other.op_, other.choice_, sizes, other.options_,
                 captured)
{}

DevicePlan::DevicePlan(std::shared_ptr<const cuda::LoadedText> text, std::shared_ptr<const Offsets> makers,
                       const Operator& op, std::shared_ptr<const PlanChoice> choice, const PlanSizes& sizes,
                       const PlanOptions& options, CUstream_st* captured)
    : context_(text->context()),
      makers_(std::move(makers)),
      op_(op),
      choice_(std::move(choice)),
      sizes_(sizes),
      options_(with_memory(options, context_, captured)),
      program_(
          std::move(text), op_, choice_->emitted, sizes.sizes,
          [this](std::size_t bytes) { return take(bytes); }, handle(captured))
{
    auto& sequence = program_.sequence();
    const auto segments = sizes.sizes.num_segments;
    if (sizes.kind == LayoutKind::lengths) {
        offsets_ = take(static_cast<std::size_t>((segments + 1) * sizes.sizes.index_bits / 8));
        offsets_.zero(handle(captured));
        // Two 64-bit words for each tile, then one for the state of make_offsets.
        const auto num_tiles = num_tiles_of(segments);
        tiles_ = take(static_cast<std::size_t>(2 * num_tiles + 1) * 8);
        tiles_.zero(handle(captured));
        making_.offsets = offsets_.address();
        making_.words = tiles_.address() + 8;
        making_.state = tiles_.address();
        making_.num_segments = segments;
        if (num_tiles > 0)
            sequence.add_first(makers_->make_offsets, shape_of(num_tiles), making_.pointers,
                               making_.argument_sizes);
    }
    if (std::ranges::any_of(op_.parameters, &Parameter::scalar))
        scalars_ = take(op_.parameters.size() * kScalarBytes);
    // One 32-bit word for each parameter, padded to 8 bytes. The last 8 bytes are the result of the check of
    // segments, or record group numbers that are too large.
    if (!choice_->emitted.checked_tables.empty() || options_.validates_segments ||
        sizes_.form == SegmentForm::groups) {
        words_ = take(words_of_parameters() + 8);
        words_.zero(handle(captured));
    }
    addresses_.reserve(3);
    if (captured != nullptr)
        return;
    sequence.prepare();
    context_.synchronize();
}

cuda::DeviceBuffer DevicePlan::take(std::size_t bytes)
{
    scratch_bytes_ += static_cast<std::int64_t>(bytes);
    const auto& [allocate, release] = options_.scratch;
    if (bytes == 0 || !allocate)
        return {context_, bytes};
    void* const memory = allocate(bytes);
    if (memory != nullptr && address(memory) % 256 != 0 && release)
        release(memory);
    if (memory == nullptr || address(memory) % 256 != 0)
        throw InputError(
            fmt::format("the allocator gave address {:#x} for {} bytes of scratch memory; one that "
                        "is a multiple of 256 is needed",
                        address(memory), bytes));
    return {context_, bytes, address(memory), [memory, release = release] {
                if (release)
                    release(memory);
            }};
}

void DevicePlan::zero(const void* device, std::size_t bytes, CUstream_st* stream) const
{
    if (bytes == 0)
        return;
    const cuda::CurrentContext current(context_);
    cuda::check(cuda::driver().cuMemsetD8Async(address(device), 0, bytes, handle(stream)), "cuMemsetD8Async");
}

void DevicePlan::bind_segments(const SegmentsView& segments)
{
    const auto begins = address(segments.first.data);
    addresses_.clear();
    switch (sizes_.form) {
        case SegmentForm::whole:
        case SegmentForm::uniform: break;
        case SegmentForm::flags: addresses_.assign({begins, address(segments.num_found.data)}); break;
        case SegmentForm::keys:
            addresses_.assign({begins, address(segments.found_keys.data), address(segments.num_found.data)});
            break;
        case SegmentForm::ranges: addresses_.assign({begins, address(segments.second.data)}); break;
        case SegmentForm::groups:
            addresses_.assign({begins, words_.address() + words_of_parameters()});
            break;
        case SegmentForm::offsets:
            if (sizes_.kind == LayoutKind::offsets) {
                addresses_.assign({begins});
                break;
            }
            making_.lengths = begins;
            addresses_.assign({offsets_.address()});
    }
    program_.arguments().bind_segments(addresses_);
}

void DevicePlan::validate(const SegmentsView& segments, CUstream_st* stream)
{
    const auto num_segments = static_cast<long long>(sizes_.sizes.num_segments);
    const auto num_elements = static_cast<long long>(sizes_.sizes.num_elements);
    const auto place = words_.address() + words_of_parameters();
    const auto index_bytes = static_cast<std::size_t>(sizes_.sizes.index_bits / 8);
    const auto grid = std::clamp<std::int64_t>(num_segments / kThreads + 1, 1, kCheckingBlocks);
    const auto& driver = cuda::driver();
    const auto first_wrong = [&](auto&& queue) {
        long long wrong = num_segments + 1;
        cuda::check(driver.cuMemcpyHtoDAsync(place, &wrong, sizeof wrong, handle(stream)),
                    "cuMemcpyHtoDAsync");
        cuda::check(driver.cuStreamSynchronize(handle(stream)), "cuStreamSynchronize");
        queue();
        cuda::check(driver.cuMemcpyDtoHAsync(&wrong, place, sizeof wrong, handle(stream)),
                    "cuMemcpyDtoHAsync");
        cuda::check(driver.cuStreamSynchronize(handle(stream)), "cuStreamSynchronize");
        return wrong;
    };
    const auto value = [&](std::uint64_t array, long long at) {
        std::int64_t wide = 0;
        std::int32_t narrow = 0;
        void* target = index_bytes == 8 ? static_cast<void*>(&wide) : static_cast<void*>(&narrow);
        cuda::check(
            driver.cuMemcpyDtoH(target, array + static_cast<std::uint64_t>(at) * index_bytes, index_bytes),
            "cuMemcpyDtoH");
        return index_bytes == 8 ? wide : std::int64_t{narrow};
    };
    const auto begins = address(segments.first.data), ends = address(segments.second.data);
    const cuda::CurrentContext current(context_);
    if (sizes_.kind == LayoutKind::lengths || sizes_.kind == LayoutKind::ranges) {
        const auto wrong = first_wrong([&] {
            launch(makers_->check_ranges, grid, stream, begins, ends, num_segments, num_elements, place);
        });
        if (wrong <= num_segments && sizes_.kind == LayoutKind::lengths)
            throw InputError(
                fmt::format("lengths on the device: segment {} has {} elements; a length is not "
                            "negative",
                            wrong, value(begins, wrong)));
        if (wrong <= num_segments)
            throw InputError(fmt::format(
                "ranges on the device: segment {} is [{}, {}) of {}; begins and "
                "ends lie inside, no end before its begin",
                wrong, value(begins, wrong), value(ends, wrong), count_text(num_elements, "element")));
    }
    if (sizes_.kind != LayoutKind::offsets && sizes_.kind != LayoutKind::lengths)
        return;
    const auto offsets = sizes_.kind == LayoutKind::offsets ? begins : offsets_.address();
    const auto wrong = first_wrong([&] {
        if (sizes_.kind == LayoutKind::lengths && num_segments > 0)
            makers_->make_offsets.queue(handle(stream), shape_of(num_tiles_of(num_segments)),
                                        making_.pointers);
        launch(makers_->check_offsets, grid, stream, offsets, num_segments, num_elements, place);
    });
    if (wrong > num_segments)
        return;
    if (sizes_.kind == LayoutKind::lengths)
        throw InputError(fmt::format("lengths on the device add up to {}; {}", value(offsets, num_segments),
                                     there_are(num_elements, "element")));
    if (wrong == num_segments)
        throw InputError(
            fmt::format("offsets on the device end with {}; the last must be {}, the number of elements",
                        value(offsets, wrong), num_elements));
    if (wrong == 0 && value(offsets, 0) != 0)
        throw InputError(
            fmt::format("offsets on the device begin with {}; the first must be 0", value(offsets, 0)));
    throw InputError(
        fmt::format("offsets on the device decrease at segment {}: {} after {}; offsets must be "
                    "non-decreasing",
                    wrong, value(offsets, wrong + 1), value(offsets, wrong)));
}

std::uint64_t DevicePlan::write_scalar(std::size_t parameter, const ArrayView& value, CUstream_st* stream)
{
    const auto place = scalars_.address() + parameter * kScalarBytes;
    const cuda::CurrentContext current(context_);
    const auto& driver = cuda::driver();
    const auto size = size_bytes(value.type);
    if (size == 1) {
        unsigned char byte = 0;
        std::memcpy(&byte, value.data, sizeof byte);
        cuda::check(driver.cuMemsetD8Async(place, byte, 1, handle(stream)), "cuMemsetD8Async");
    } else if (size == 2) {
        unsigned short half = 0;
        std::memcpy(&half, value.data, sizeof half);
        cuda::check(driver.cuMemsetD16Async(place, half, 1, handle(stream)), "cuMemsetD16Async");
    } else {
        for (std::size_t at = 0; at < size; at += 4) {
            unsigned word = 0;
            std::memcpy(&word, static_cast<const std::byte*>(value.data) + at, sizeof word);
            cuda::check(driver.cuMemsetD32Async(place + at, word, 1, handle(stream)), "cuMemsetD32Async");
        }
    }
    return place;
}

bool DevicePlan::run(std::span<const ArrayView> inputs, const SegmentsView& segments,
                     std::span<const MutableArrayView> results, CUstream_st* stream)
{
    const bool is_captured = cuda::is_captured(handle(stream));
    if (is_captured) {
        if (options_.validates_segments)
            throw InputError(fmt::format(
                "the plan of {} checks segments, for which it waits for the GPU, and its stream is captured "
                "into a graph, for which nothing can be waited; make a plan that does not check them",
                op_.name));
        keep_kernels();
        if (scratch_bytes_ > 0 && cuda::driver().cuMemAllocAsync && cuda::driver().cuMemFreeAsync) {
            DevicePlan(*this, sizes_, stream).queue(inputs, segments, results, stream);
            return true;
        }
    }
    if (scratch_bytes_ > 0 && has_stream_ && stream != stream_)
        throw InputError(
            fmt::format("the plan of {} has {} bytes of scratch memory, which belong to the stream of "
                        "its first run; make a copy() for each stream, or move_to() the other one once "
                        "what was queued is done",
                        op_.name, scratch_bytes_));
    has_stream_ = true;
    stream_ = stream;
    queue(inputs, segments, results, stream);
    return is_captured;
}

void DevicePlan::keep_kernels() const
{
    static auto* mutex = new std::mutex;
    static auto* kept = new std::set<std::shared_ptr<const void>>;
    const std::lock_guard lock(*mutex);
    kept->insert({program_.text(), makers_});
}

void DevicePlan::queue(std::span<const ArrayView> inputs, const SegmentsView& segments,
                       std::span<const MutableArrayView> results, CUstream_st* stream)
{
    bind_segments(segments);
    if (options_.validates_segments)
        validate(segments, stream);
    auto& arguments = program_.arguments();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& input = inputs[i];
        arguments.bind_input(
            i, input.place == Place::device ? address(input.data) : write_scalar(i, input, stream),
            input.length);
    }
    arguments.bind_outside(words_.address());
    arguments.bind_results(results);
    // No kernel stores outputs of elements outside of all ranges.
    if (sizes_.kind == LayoutKind::ranges)
        for (const auto& result : results.last(op_.outputs.size()))
            zero(result.data,
                 static_cast<std::size_t>(sizes_.sizes.num_elements * sizes_.sizes.num_features) *
                     size_bytes(result.type),
                 stream);
    // If no kernel runs, no kernel writes the number of segments. Set it to 0.
    if (is_found(sizes_.form) && program_.sequence().empty())
        zero(segments.num_found.data, static_cast<std::size_t>(sizes_.sizes.index_bits / 8), stream);
    program_.launch(handle(stream));
}

bool DevicePlan::has_met_other_numbers(CUstream_st* stream)
{
    if (sizes_.form != SegmentForm::groups)
        return false;
    return take_words(words_of_parameters() / 4, 1, stream).front() != 0;
}

std::vector<std::string> DevicePlan::tables_read_outside(CUstream_st* stream)
{
    std::vector<std::string> tables;
    if (choice_->emitted.checked_tables.empty())
        return tables;
    const auto words = take_words(0, op_.parameters.size(), stream);
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] != 0)
            tables.push_back(op_.parameters[i].name);
    return tables;
}

std::vector<std::uint32_t> DevicePlan::take_words(std::size_t first, std::size_t count, CUstream_st* stream)
{
    const cuda::CurrentContext current(context_);
    cuda::check(cuda::driver().cuStreamSynchronize(handle(stream)), "cuStreamSynchronize");
    std::vector<std::uint32_t> words(count);
    const auto bytes = std::as_writable_bytes(std::span(words));
    words_.copy_out(bytes, first * sizeof(std::uint32_t));
    zero(reinterpret_cast<const void*>(words_.address() + first * sizeof(std::uint32_t)), bytes.size(),
         stream);
    return words;
}

}  // namespace segfold
