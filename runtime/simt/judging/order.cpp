#include "runtime/simt/judging/order.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/simt/shim/protocol.h"

namespace segfold::simt {
namespace {

/// Returns the knowledge that is published at `flag` and that threads of block `block_number` may acquire.
Knowledge published_at(Worker& worker, std::uint32_t block_number, const Place& flag)
{
    const CellLock lock(*flag.cell, flag.locked);
    const Extra* extra = flag.shadow->extra_of(*flag.cell);
    if (extra == nullptr || extra->launch != worker.launch().first_number)
        return nullptr;
    return extra->block_number == block_number ? join(extra->device, extra->block) : extra->device;
}

void note_published(Block& block, Order& order, Knowledge Order::*into, const Knowledge& published)
{
    if (published == nullptr)
        return;
    learn(order.*into, published);
    block.uses_order = true;
}

void take_deferred(Worker& worker, Block& block, Order& order)
{
    const Place flag = std::exchange(order.deferred, Place{});
    if (flag.cell != nullptr)
        note_published(block, order, &Order::pending, published_at(worker, block.number, flag));
}

/// Adds to `knowledge` the knowledge that the thread of `order` has read from flags since its last fence.
void take_pending(Knowledge& knowledge, Order& order)
{
    if (order.pending != nullptr)
        learn(knowledge, std::exchange(order.pending, nullptr));
}

/// Returns the cover of all accesses of the running thread's block that are over for this thread. Starts a
/// new phase, so that the cover does not contain the thread's later accesses.
Cover release_cover(Worker& worker)
{
    Block& block = worker.block();
    Warp& warp = worker.warp();
    Cover cover{block.barrier_time, {}};
    const std::uint32_t now = ++block.time;
    const unsigned first = worker.thread().index - worker.lane();
    for (std::uint32_t rest = warp.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::uint32_t time = warp.synced;
        if (warp.partly_synced != nullptr)
            time = std::max(time, (*warp.partly_synced)[worker.lane()][lane]);
        if (lane == worker.lane())
            time = now;
        if (time > cover.barrier_time)
            cover.lanes.push_back({static_cast<std::uint16_t>(first + lane), time});
    }
    warp.phase = now;
    return cover;
}

void order_lanes(Warp& warp, std::uint32_t mask, std::uint32_t now)
{
    if (warp.partly_synced == nullptr)
        warp.partly_synced = std::make_unique<LaneTimes>();
    LaneTimes& times = *warp.partly_synced;
    std::array<std::uint32_t, kWarpLanes> joined{};
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        for (unsigned other = 0; other < kWarpLanes; ++other)
            joined[other] = std::max(joined[other], times[lane][other]);
    }
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
        joined[static_cast<unsigned>(std::countr_zero(rest))] = now;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
        times[static_cast<unsigned>(std::countr_zero(rest))] = joined;
}

}  // namespace

void fence(Worker& worker, unsigned scope)
{
    Block& block = worker.block();
    Order& order = worker.order();
    take_deferred(worker, block, order);
    take_pending(order.known, order);
    order.published_block = extend(join(block.known, order.known), block.number, release_cover(worker));
    if (scope == kSegfoldScopeDevice)
        order.published_device = order.published_block;
    block.uses_order = true;
}

void publish(Worker& worker, const Place& flag)
{
    Block& block = worker.block();
    if (!block.uses_order)
        return;
    const Order& order = worker.order();
    const Knowledge device = join(order.published_device, block.published);
    const Knowledge within = join(order.published_block, device);
    if (within == nullptr)
        return;
    const CellLock lock(*flag.cell, flag.locked);
    Extra& extra = flag.shadow->require_extra(*flag.cell);
    if (std::exchange(extra.launch, worker.launch().first_number) != worker.launch().first_number)
        extra.device = extra.block = nullptr;
    learn(extra.device, device);
    if (std::exchange(extra.block_number, block.number) != block.number)
        extra.block = nullptr;
    learn(extra.block, within);
}

void note_flag(Worker& worker, const Place& flag)
{
    Block& block = worker.block();
    note_published(block, worker.order(), &Order::pending, published_at(worker, block.number, flag));
}

void acquire(Worker& worker, const Place& flag)
{
    Block& block = worker.block();
    note_published(block, worker.order(), &Order::known, published_at(worker, block.number, flag));
}

void defer_flag(Worker& worker, const Place& flag)
{
    Order& order = worker.order();
    take_deferred(worker, worker.block(), order);
    order.deferred = flag;
    worker.block().uses_order = true;
}

void order_block(Worker& worker, Block& block)
{
    for (Order& order : block.order) {
        take_deferred(worker, block, order);
        learn(block.known, order.known);
        order.known = nullptr;
        take_pending(block.known, order);
        // Flags that a thread writes after the barrier also publish what fences before the barrier made
        // public, as on the hardware.
        learn(block.published, order.published_device);
    }
}

void order_cluster(std::span<Block> blocks)
{
    Knowledge all;
    for (const Block& block : blocks)
        all = extend(join(all, block.known), block.number, {block.barrier_time, {}});
    for (Block& block : blocks) {
        block.known = all;
        block.uses_order = true;
    }
}

void order_warp(Worker& worker, Block& block, Warp& warp, std::uint32_t mask)
{
    const std::uint32_t now = ++block.time;
    warp.phase = now;
    if ((warp.live & ~mask) == 0)
        warp.synced = now;
    else
        order_lanes(warp, mask, now);
    if (!block.uses_order)
        return;
    const auto first = static_cast<std::size_t>(&warp - block.warps.data()) * kWarpLanes;
    block.order.resize(block.threads.size());
    Knowledge all;
    Knowledge published;
    const auto for_each_order = [&](auto&& action) {
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
            action(block.order[first + static_cast<unsigned>(std::countr_zero(rest))]);
    };
    for_each_order([&](Order& order) {
        take_deferred(worker, block, order);
        learn(all, order.known);
        take_pending(all, order);
        learn(published, order.published_device);
    });
    for_each_order([&](Order& order) {
        if (order.known != all)
            order.known = all;
        if (order.published_device != published)
            order.published_device = published;
    });
}

bool ordered_in_block(Worker& worker, unsigned thread, std::uint32_t time)
{
    const Block& block = worker.block();
    if (time < block.barrier_time || thread == worker.thread().index)
        return true;
    if (thread / kWarpLanes == worker.thread().index / kWarpLanes) {
        const Warp& warp = worker.warp();
        if (time < warp.synced)
            return true;
        if (warp.partly_synced != nullptr && time < (*warp.partly_synced)[worker.lane()][thread % kWarpLanes])
            return true;
    }
    return known(worker, block.number, thread, time);
}

bool known(Worker& worker, std::uint32_t number, unsigned thread, std::uint32_t time)
{
    const Block& block = worker.block();
    if (!block.uses_order)
        return false;
    for (const Knowledge* knowledge : std::array<const Knowledge*, 2>{&block.known, &worker.order().known})
        if (const Cover* cover = find(*knowledge, number); cover != nullptr && cover->holds(thread, time))
            return true;
    return false;
}

bool perhaps_known(Worker& worker, std::uint32_t number, std::uint32_t time)
{
    const Block& block = worker.block();
    if (!block.uses_order)
        return false;
    for (const Knowledge* knowledge : std::array<const Knowledge*, 2>{&block.known, &worker.order().known})
        if (const Cover* cover = find(*knowledge, number);
            cover != nullptr && (time < cover->barrier_time || !cover->lanes.empty()))
            return true;
    return false;
}

}  // namespace segfold::simt
