#include "runtime/simt/judging/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "runtime/simt/execution/region.h"
#include "runtime/simt/judging/findings.h"
#include "runtime/simt/judging/order.h"

namespace segfold::simt {
namespace {

/// An earlier access that is not ordered before the checked access. If the memory was never written, `block`
/// is 0.
struct Conflict {
    std::uint32_t block = 0;
    std::uintptr_t site = 0;
    bool wrote = false;
    std::string who;
};

/// Data that the checks of one access share.
struct Check {
    Worker& worker;
    const Access& access;
    const Block& block;
    std::uint32_t phase;
    unsigned thread;
    unsigned warp;
    bool shared;  ///< true if the memory is the shared memory of a block
};

bool in_launch(const Check& check, std::uint32_t number)
{
    const Launch& launch = check.worker.launch();
    return number - launch.first_number < launch.num_blocks;
}

/// True if block `number` belongs to the running block's cluster.
bool in_cluster(const Check& check, std::uint32_t number)
{
    const Launch& launch = check.worker.launch();
    const auto cluster_of = [&](std::uint32_t block) {
        return (block - launch.first_number) / launch.cluster_blocks;
    };
    return in_launch(check, number) && cluster_of(number) == cluster_of(check.block.number);
}

bool both_strong(const Check& check, Accessor other) { return check.access.strong && other.strong(); }

bool over(const Check& check, std::uint32_t number, unsigned thread, std::uint32_t time)
{
    if (number == check.block.number)
        return ordered_in_block(check.worker, thread, time);
    return known(check.worker, number, thread, time);
}

Accessor accessor(const Check& check, unsigned index)
{
    return {index, check.access.strong,
            reinterpret_cast<std::uintptr_t>(check.access.site) - check.worker.launch().module.base()};
}

std::optional<Conflict> check_write(const Check& check, const Write& last)
{
    const unsigned thread = last.thread.index();
    if (last.block == check.block.number) {
        if (thread == check.thread || last.time < check.block.barrier_time ||
            both_strong(check, last.thread) || ordered_in_block(check.worker, thread, last.time))
            return std::nullopt;
    } else if (check.shared && !in_cluster(check, last.block)) {
        return check.access.reads ? std::optional(Conflict{}) : std::nullopt;
    } else if (!in_launch(check, last.block) || both_strong(check, last.thread) ||
               known(check.worker, last.block, thread, last.time)) {
        return std::nullopt;
    }
    return Conflict{last.block, last.thread.site(), true, thread_text(check.worker.launch(), thread)};
}

std::optional<Conflict> check_reads(const Check& check, const Reads& reads)
{
    const bool same_block = reads.block == check.block.number;
    if (!same_block && (check.shared ? !in_cluster(check, reads.block) : !in_launch(check, reads.block)))
        return std::nullopt;
    if ((same_block && reads.time < check.block.barrier_time) || both_strong(check, reads.warp))
        return std::nullopt;
    if (reads.warp.index() == kSeveralWarps) {
        const std::uint32_t others = same_block ? reads.mask & ~(1u << check.warp) : reads.mask;
        if (others == 0 || perhaps_known(check.worker, reads.block, reads.time))
            return std::nullopt;
        return Conflict{reads.block, reads.warp.site(), false,
                        fmt::format("warp {}", std::countr_zero(others))};
    }
    for (std::uint32_t rest = reads.mask; rest != 0; rest &= rest - 1) {
        const unsigned thread =
            reads.warp.index() * kWarpLanes + static_cast<unsigned>(std::countr_zero(rest));
        if (!over(check, reads.block, thread, reads.time))
            return Conflict{reads.block, reads.warp.site(), false,
                            thread_text(check.worker.launch(), thread)};
    }
    return std::nullopt;
}

void note_read(const Check& check, Reads& reads)
{
    const std::uint32_t bit = 1u << check.thread % kWarpLanes;
    const unsigned warp = reads.warp.index();
    if (reads.block == check.block.number && reads.warp.strong() == check.access.strong &&
        warp == check.warp && reads.time == check.phase) {
        reads.mask |= bit;
        return;
    }
    // A cell has room for the reads of one block only. Older reads may be forgotten if no later access can
    // race with them.
    if (reads.block != check.block.number || reads.time < check.block.barrier_time ||
        (warp == check.warp && reads.time < check.worker.warp().synced)) {
        reads = {check.block.number, check.phase, bit, accessor(check, check.warp)};
        return;
    }
    // A plain write races with strong and with plain reads, a strong write only with plain reads. Plain reads
    // are therefore kept.
    if (reads.warp.strong() != check.access.strong) {
        if (reads.warp.strong())
            reads = {check.block.number, check.phase, bit, accessor(check, check.warp)};
        return;
    }
    if (warp == check.warp) {
        // The older time is kept. It may hide a race with the newer read, but never reports a false race.
        reads.mask |= bit;
        return;
    }
    if (warp != kSeveralWarps)
        reads.mask = 1u << warp;
    reads.mask |= 1u << check.warp;
    reads.time = std::max(reads.time, check.phase);
    reads.warp = accessor(check, kSeveralWarps);
}

std::optional<Conflict> check_cell(const Check& check, Cell& cell)
{
    if (auto conflict = check_write(check, cell.write))
        return conflict;
    if (!check.access.writes) {
        note_read(check, cell.reads);
        return std::nullopt;
    }
    if (cell.reads.block != 0)
        if (auto conflict = check_reads(check, cell.reads))
            return conflict;
    cell.write = {check.block.number, check.phase, accessor(check, check.thread)};
    cell.reads.block = 0;
    return std::nullopt;
}

std::string verb(const Access& access)
{
    if (access.reads && access.writes)
        return "updates";
    return access.writes ? "writes" : "reads";
}

[[noreturn]] void fail_with_conflict(const Check& check, const Conflict& conflict, std::uintptr_t address)
{
    Worker& worker = check.worker;
    const Access& access = check.access;
    const std::string memory =
        memory_text(worker.launch(), worker.shared_base(), address, std::min<std::size_t>(access.bytes, 4));
    if (conflict.block == 0)
        worker.fail(Fault::uninitialised, access.site,
                    fmt::format("{} {}, which no thread of the block has written", verb(access), memory));
    const Launch& launch = worker.launch();
    std::string who = conflict.who;
    std::string cure = "threads of a block are ordered by __syncthreads(), lanes of a warp by __syncwarp()";
    if (conflict.block != check.block.number) {
        who += " of " + block_number_text(launch, conflict.block);
        cure = "blocks are ordered by __threadfence() on both sides of an atomic or volatile flag";
    }
    const auto site = reinterpret_cast<const void*>(launch.module.base() + conflict.site);
    worker.fail(Fault::race, access.site,
                fmt::format("{} {}, which {} {}{} with nothing to order the two: {}", verb(access), memory,
                            who, conflict.wrote ? "wrote" : "read",
                            line_text(launch, lines_of(launch, site), " in "), cure));
}

[[noreturn]] void fail_outside(Worker& worker, const Access& access)
{
    const std::size_t shared_bytes = worker.launch().module.symbols().shared_bytes;
    if (access.address - worker.shared_base() < shared_bytes)
        worker.fail(Fault::out_of_bounds, access.site,
                    fmt::format("{} {} at {}, outside of every shared array", verb(access),
                                counted(access.bytes, "byte"),
                                memory_text(worker.launch(), worker.shared_base(), access.address, 0)));
    worker.fail(Fault::out_of_bounds, access.site,
                fmt::format("{} {} at {}", verb(access), counted(access.bytes, "byte"),
                            outside_text(access.address, access.bytes)));
}

bool in_shared_array(const Launch& launch, std::size_t offset, std::size_t bytes)
{
    for (std::size_t i = offset; i < offset + bytes; ++i)
        if (i / 4 >= launch.shared_words.size() || (launch.shared_words[i / 4] >> i % 4 & 1) == 0)
            return false;
    return true;
}

/// The memory to which an access goes.
struct Target {
    Cell* cells = nullptr;  ///< cells of the memory, from its first word on; null if nothing is checked
    Shadow* shadow = nullptr;
    std::size_t offset = 0;
    bool shared = false;
};

/// Finds the memory of an access to the shared memory of another block of the cluster.
Target locate_in_cluster(Worker& worker, const Access& access)
{
    const Launch& launch = worker.launch();
    for (const Block& block : worker.cluster()) {
        const std::size_t offset =
            access.address - reinterpret_cast<std::uintptr_t>(block.shared_image.data());
        if (&block == &worker.block() || offset >= launch.module.symbols().shared_bytes)
            continue;
        if (block.live == 0)
            worker.fail(Fault::out_of_bounds, access.site,
                        fmt::format("{} {}, whose threads have returned", verb(access),
                                    memory_text(launch, worker.shared_base(), worker.shared_base() + offset,
                                                access.bytes) +
                                        " of " + block_number_text(launch, block.number)));
        if (!in_shared_array(launch, offset, access.bytes))
            fail_outside(worker, access);
        Shadow* shadow = block.shared_shadow.get();
        return {shadow == nullptr ? nullptr : shadow->cells(), shadow, offset, true};
    }
    fail_outside(worker, access);
}

Target locate(Worker& worker, const Access& access)
{
    Launch& launch = worker.launch();
    if (Region* region = region_at(access.address)) {
        const std::size_t offset = access.address - reinterpret_cast<std::uintptr_t>(region->base);
        if (offset > region->bytes || access.bytes > region->bytes - offset)
            fail_outside(worker, access);
        return {region->shadow->cells(), region->shadow.get(), offset, false};
    }
    const std::size_t offset = access.address - worker.shared_base();
    if (offset < launch.module.symbols().shared_bytes) {
        const bool word = access.bytes == 4 && offset % 4 == 0 && launch.shared_words[offset / 4] == 15;
        if (!word && !in_shared_array(launch, offset, access.bytes))
            fail_outside(worker, access);
        Shadow* shadow = worker.block().shared_shadow.get();
        return {shadow == nullptr ? nullptr : shadow->cells(), shadow, offset, true};
    }
    const Fiber& fiber = worker.fiber();
    const bool local = access.address >= fiber.low && access.address < fiber.high;
    if (!local && !launch.module.owns(access.address))
        return locate_in_cluster(worker, access);
    return {};
}

}  // namespace

void check_bounds(Worker& worker, const Access& access) { locate(worker, access); }

Place check_access(Worker& worker, const Access& access)
{
    worker.count_access();
    const Target target = locate(worker, access);
    Launch& launch = worker.launch();
    if (target.cells == nullptr || !launch.shadow)
        return {};
    const Block& block = worker.block();
    const unsigned thread = worker.thread().index;
    const Check check{worker, access, block, worker.warp().phase, thread, thread / kWarpLanes, target.shared};
    const bool locked = !target.shared && launch.num_workers > 1;
    const std::size_t end = target.offset + access.bytes;
    for (std::size_t offset = target.offset; offset < end;) {
        Cell& cell = target.cells[offset / 4];
        const std::size_t word_end = std::min(end, offset / 4 * 4 + 4);
        std::optional<Conflict> conflict;
        {
            const CellLock lock(cell, locked);
            const Extra* extra = target.shadow->extra_of(cell);
            if (word_end - offset == 4 && (extra == nullptr || !extra->split)) {
                conflict = check_cell(check, cell);
            } else {
                Cell* bytes = target.shadow->require_bytes(cell);
                for (std::size_t i = offset; i < word_end && !conflict; ++i)
                    conflict = check_cell(check, bytes[i % 4]);
            }
        }
        if (conflict)
            fail_with_conflict(
                check, *conflict,
                target.shared ? worker.shared_base() + offset : access.address - target.offset + offset);
        offset = word_end;
    }
    return {&target.cells[target.offset / 4], target.shadow, locked};
}

}  // namespace segfold::simt
