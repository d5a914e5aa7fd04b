#include "runtime/simt/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "runtime/simt/findings.h"
#include "runtime/simt/order.h"
#include "runtime/simt/region.h"

namespace segfold::simt {
namespace {

/// An earlier access that the checked one is not ordered after. `number` 0: the memory was never written.
struct Conflict {
    std::uint32_t number = 0;
    std::uint32_t site = 0;
    bool wrote = false;
    std::string who;
};

/// What the checks of one access share.
struct Check {
    Worker& worker;
    const Access& access;
    const Block& block;
    std::uint32_t phase;
    unsigned thread;
    unsigned warp;
    bool shared;  ///< whether the memory is a block's own
};

bool in_launch(const Check& check, std::uint32_t number)
{
    const Launch& launch = check.worker.launch();
    return number - launch.first_number < launch.num_blocks;
}

bool both_strong(const Check& check, std::uint16_t flags)
{
    return (check.access.flags & flags & kStrong) != 0;
}

bool over(const Check& check, std::uint32_t number, unsigned thread, std::uint32_t time)
{
    if (number == check.block.number)
        return ordered_in_block(check.worker, thread, time);
    return known(check.worker, number, thread, time);
}

std::optional<Conflict> check_write(const Check& check, const Write& last)
{
    if (last.block == check.block.number) {
        if (last.thread == check.thread || last.time < check.block.barrier_time ||
            both_strong(check, last.flags) || ordered_in_block(check.worker, last.thread, last.time))
            return std::nullopt;
    } else if (check.shared) {
        return check.access.reads ? std::optional(Conflict{}) : std::nullopt;
    } else if (!in_launch(check, last.block) || both_strong(check, last.flags) ||
               known(check.worker, last.block, last.thread, last.time)) {
        return std::nullopt;
    }
    return Conflict{last.block, last.site, true, thread_text(check.worker.launch(), last.thread)};
}

std::optional<Conflict> check_reads(const Check& check, const Reads& reads)
{
    const bool same_block = reads.block == check.block.number;
    if (!same_block && (check.shared || !in_launch(check, reads.block)))
        return std::nullopt;
    if ((same_block && reads.time < check.block.barrier_time) || both_strong(check, reads.flags))
        return std::nullopt;
    if (reads.who == kSeveralWarps) {
        const std::uint32_t others = same_block ? reads.mask & ~(1u << check.warp) : reads.mask;
        if (others == 0 || perhaps_known(check.worker, reads.block, reads.time))
            return std::nullopt;
        return Conflict{reads.block, reads.site, false, fmt::format("warp {}", std::countr_zero(others))};
    }
    for (std::uint32_t rest = reads.mask; rest != 0; rest &= rest - 1) {
        const unsigned thread = reads.who * kWarpLanes + static_cast<unsigned>(std::countr_zero(rest));
        if (!over(check, reads.block, thread, reads.time))
            return Conflict{reads.block, reads.site, false, thread_text(check.worker.launch(), thread)};
    }
    return std::nullopt;
}

/// Whether nothing that comes after the running thread's next event can race with `reads`.
bool may_be_forgotten(const Check& check, const Reads& reads)
{
    if (reads.block == check.block.number)
        return reads.time < check.block.barrier_time ||
               (reads.who == check.warp && reads.time < check.worker.warp().synced);
    return check.shared || !in_launch(check, reads.block);
}

void note_read(const Check& check, Cell& cell)
{
    const std::uint32_t bit = 1u << check.thread % kWarpLanes;
    const auto base = check.worker.launch().module.base();
    const Reads mine{check.block.number,
                     check.phase,
                     static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(check.access.site) - base),
                     bit,
                     static_cast<std::uint16_t>(check.warp),
                     check.access.flags};
    for (Reads& reads : cell.reads) {
        if (reads.block == mine.block && reads.who == mine.who && reads.time == mine.time &&
            reads.flags == mine.flags) {
            reads.mask |= bit;
            return;
        }
    }
    for (Reads& reads : cell.reads) {
        if (may_be_forgotten(check, reads)) {
            reads = mine;
            return;
        }
    }
    for (Reads& reads : cell.reads) {
        if (reads.block == mine.block && reads.who != mine.who && reads.flags == mine.flags) {
            if (reads.who != kSeveralWarps)
                reads.mask = 1u << reads.who;
            reads.mask |= 1u << mine.who;
            reads.who = kSeveralWarps;
            reads.time = std::max(reads.time, mine.time);
            return;
        }
    }
    // More readers than there is room for: the oldest is forgotten, so a race with it alone would be missed.
    cell.reads[0] = cell.reads[1];
    cell.reads[1] = mine;
}

std::optional<Conflict> check_cell(const Check& check, Cell& cell)
{
    if (auto conflict = check_write(check, cell.write))
        return conflict;
    if (!check.access.writes) {
        note_read(check, cell);
        return std::nullopt;
    }
    for (const Reads& reads : cell.reads)
        if (auto conflict = check_reads(check, reads))
            return conflict;
    const auto base = check.worker.launch().module.base();
    cell.write = {check.block.number, check.phase,
                  static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(check.access.site) - base),
                  static_cast<std::uint16_t>(check.thread), check.access.flags};
    cell.reads[0].block = cell.reads[1].block = 0;
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
    if (conflict.number == 0)
        worker.fail(Fault::uninitialised, access.site,
                    fmt::format("{} {}, which no thread of the block has written", verb(access), memory));
    const Launch& launch = worker.launch();
    std::string who = conflict.who;
    std::string cure = "threads of a block are ordered by __syncthreads(), lanes of a warp by __syncwarp()";
    if (conflict.number != check.block.number) {
        who += " of " + block_number_text(launch, conflict.number);
        cure = "blocks are ordered by __threadfence() on both sides of an atomic or volatile flag";
    }
    const auto site = reinterpret_cast<const void*>(launch.module.base() + conflict.site);
    worker.fail(
        Fault::race, access.site,
        fmt::format("{} {}, which {} {}{} with nothing to order the two: {}", verb(access), memory, who,
                    conflict.wrote ? "wrote" : "read", in_line_text(line_of(launch, site)), cure));
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

/// Where an access lies.
struct Target {
    Cell* cells = nullptr;  ///< of its region's first word; null: nothing to check
    Shadow* shadow = nullptr;
    std::size_t offset = 0;
    bool shared = false;
};

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
        fail_outside(worker, access);
    return {};
}

}  // namespace

Place check_access(Worker& worker, const Access& access)
{
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
            const Extra* extra = extra_of(cell);
            if (word_end - offset == 4 && (extra == nullptr || extra->bytes == nullptr)) {
                conflict = check_cell(check, cell);
            } else {
                Cell* bytes = require_bytes(cell, *target.shadow);
                for (std::size_t i = offset; i < word_end && !conflict; ++i)
                    conflict = check_cell(check, bytes[i % 4]);
            }
        }
        if (conflict)
            fail_with_conflict(check, *conflict, access.address - target.offset + offset);
        offset = word_end;
    }
    return {&target.cells[target.offset / 4], target.shadow, locked};
}

}  // namespace segfold::simt
