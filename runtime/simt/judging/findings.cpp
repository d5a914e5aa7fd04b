#include "runtime/simt/judging/findings.h"

#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>

#include "codegen/weave/line_map.h"
#include "runtime/simt/execution/region.h"
#include "runtime/simt/shim/protocol.h"

namespace segfold::simt {
namespace {

/// Returns sorted numbers as ranges: "0-15, 31".
std::string ranges(std::span<const unsigned> numbers)
{
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
            ++end;
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (end - i > 1)
            text += (end - i == 2 ? ", " : "-") + std::to_string(numbers[end - 1]);
        i = end;
    }
    return text;
}

std::string coordinates(const char* noun, std::uint64_t linear, unsigned x, unsigned y, unsigned z)
{
    if (y == 1 && z == 1)
        return fmt::format("{} {}", noun, linear);
    return fmt::format("{} ({}, {}, {})", noun, linear % x, linear / x % y, linear / x / y);
}

/// Returns " of the emitted text (kernels/stages/tile_scan.cu:12)"; empty if the text was not emitted.
///
/// If the line belongs to a function that the stage calls, also names the line of the call in the stage.
std::string origin_text(const Launch& launch, const CallLines& called)
{
    const auto& lines = launch.options.lines;
    if (!lines)
        return "";
    auto text = lines->origin(called.front());
    std::string stage;
    for (const int line : called)
        if (const auto origin = lines->origin(line); !origin.empty())
            stage = origin;
    if (stage != text)
        text += (text.empty() ? "called in " : ", called in ") + stage;
    return " of the emitted text" + (text.empty() ? "" : fmt::format(" ({})", text));
}

/// Returns an address inside the call that returns to `site`, relative to the library's file. It is 1 less
/// than the address of `site`, because `site` may belong to the next line.
std::uint64_t place_of_call(const Launch& launch, const void* site)
{
    return site == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(site) - launch.module.base() - 1;
}

}  // namespace

std::string barrier_name(unsigned kind)
{
    constexpr const char* kNames[] = {"__syncthreads()", "__syncthreads_or()", "__syncthreads_and()",
                                      "__syncthreads_count()", "barrier.cluster"};
    return kNames[kind];
}

std::string call_text(unsigned kind, std::uint32_t mask)
{
    constexpr const char* kNames[] = {"__syncwarp",        "__shfl_sync",       "__shfl_up_sync",
                                      "__shfl_down_sync",  "__shfl_xor_sync",   "__ballot_sync",
                                      "__any_sync",        "__all_sync",        "__match_any_sync",
                                      "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync",
                                      "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
                                      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};
    return fmt::format("{}() with mask {}", kNames[kind], hexadecimal(mask));
}

std::string hexadecimal(std::uint32_t mask) { return fmt::format("0x{:08x}", mask); }

std::string counted(std::uint64_t count, const std::string& noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string lanes_text(std::uint32_t lanes)
{
    std::vector<unsigned> numbers;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        if ((lanes >> lane & 1) != 0)
            numbers.push_back(lane);
    return fmt::format("lane{} {}", numbers.size() == 1 ? "" : "s", ranges(numbers));
}

std::string threads_text(std::span<const unsigned> threads)
{
    return fmt::format("thread{} {}", threads.size() == 1 ? "" : "s", ranges(threads));
}

std::string block_text(const Launch& launch, const Block& block)
{
    return fmt::format("kernel {}, {}", launch.kernel, block_number_text(launch, block.number));
}

std::string block_number_text(const Launch& launch, std::uint32_t number)
{
    const Dimensions& shape = launch.dimensions;
    return coordinates("block", number - launch.first_number, shape.grid_x, shape.grid_y, shape.grid_z);
}

std::string thread_text(const Launch& launch, unsigned thread)
{
    const Dimensions& shape = launch.dimensions;
    return coordinates("thread", thread, shape.block_x, shape.block_y, shape.block_z);
}

std::string replay_text(const Launch& launch)
{
    const Options& options = launch.options;
    return fmt::format(" [schedule {}, blocks {}, seed {}, resident_blocks {}, os_threads {}]",
                       name(options.schedule), name(options.block_order), options.seed,
                       options.resident_blocks, launch.num_workers);
}

std::vector<CallLines> lines_of(const Launch& launch, std::span<const void* const> sites)
{
    std::vector<std::uint64_t> addresses;
    for (const void* site : sites)
        addresses.push_back(place_of_call(launch, site));
    return launch.module.lines(addresses);
}

CallLines lines_of(const Launch& launch, const void* site)
{
    return site == nullptr ? CallLines() : lines_of(launch, std::span(&site, 1))[0];
}

CallLines lines_with_callers(const Launch& launch, const void* site)
{
    if (site == nullptr)
        return {};
    constexpr int kMostFrames = 64;
    void* frames[kMostFrames];
    std::vector<std::uint64_t> addresses = {place_of_call(launch, site)};
    for (int i = 0, count = backtrace(frames, kMostFrames); i < count; ++i)
        if (frames[i] != site && launch.module.owns(reinterpret_cast<std::uintptr_t>(frames[i])))
            addresses.push_back(place_of_call(launch, frames[i]));
    CallLines lines;
    for (const auto& of_frame : launch.module.lines(addresses))
        lines.insert(lines.end(), of_frame.begin(), of_frame.end());
    return lines;
}

std::string line_text(const Launch& launch, const CallLines& lines, const char* before)
{
    return lines.empty() ? "" : fmt::format("{}line {}{}", before, lines.front(), origin_text(launch, lines));
}

std::string memory_text(const Launch& launch, std::uintptr_t shared_base, std::uintptr_t address,
                        std::size_t bytes)
{
    std::string name;
    std::uintptr_t offset = address;
    if (const Region* region = region_at(address)) {
        offset = address - reinterpret_cast<std::uintptr_t>(region->base);
        name = shown_name(region->name);
    } else if (address - shared_base < launch.module.symbols().shared_bytes) {
        offset = address - shared_base;
        const auto& arrays = launch.module.symbols().shared;
        const auto after =
            std::upper_bound(arrays.begin(), arrays.end(), offset,
                             [](std::uint64_t place, const Symbol& symbol) { return place < symbol.place; });
        if (after == arrays.begin())
            return fmt::format("byte {} of shared memory", offset);
        offset -= std::prev(after)->place;
        name = fmt::format("shared '{}'", std::prev(after)->name);
    } else {
        return fmt::format("address 0x{:x}", address);
    }
    if (bytes != 0 && offset % bytes == 0)
        return fmt::format("element {} of {}", offset / bytes, name);
    return fmt::format("byte {} of {}", offset, name);
}

std::string outside_text(std::uintptr_t address, std::size_t bytes)
{
    const Neighbour near = nearest_buffer(address);
    // An address farther than this from every buffer is reported as in no buffer.
    constexpr std::ptrdiff_t kFar = std::ptrdiff_t{1} << 40;
    if (!near.found || near.offset > kFar || near.offset < -kFar)
        return fmt::format("address 0x{:x}, which is in no buffer", address);
    const auto size = static_cast<std::ptrdiff_t>(near.bytes);
    const std::string buffer = fmt::format("{} ({})", shown_name(near.name), counted(near.bytes, "byte"));
    if (near.offset < 0)
        return fmt::format("{} before the start of {}",
                           counted(static_cast<std::uint64_t>(-near.offset), "byte"), buffer);
    if (near.offset < size && near.offset + static_cast<std::ptrdiff_t>(bytes) > size)
        return fmt::format("byte {} of {}", near.offset, buffer);
    if (near.offset == size)
        return "the end of " + buffer;
    return fmt::format("{} past the end of {}",
                       counted(static_cast<std::uint64_t>(near.offset - size), "byte"), buffer);
}

}  // namespace segfold::simt
