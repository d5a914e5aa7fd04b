// The barrier of a block and the warp-wide functions, at which threads wait for each other.
#include <algorithm>
#include <bit>

#include "runtime/simt/execution/worker.h"
#include "runtime/simt/judging/findings.h"
#include "runtime/simt/judging/order.h"
#include "runtime/simt/shim/protocol.h"

namespace segfold::simt {
namespace {

std::uint64_t reduce(unsigned kind, std::uint64_t a, std::uint64_t b)
{
    const auto x = static_cast<std::uint32_t>(a);
    const auto y = static_cast<std::uint32_t>(b);
    const bool less_signed = static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    switch (kind) {
        case kSegfoldReduceAdd: return x + y;
        case kSegfoldReduceMinSigned: return less_signed ? x : y;
        case kSegfoldReduceMaxSigned: return less_signed ? y : x;
        case kSegfoldReduceMinUnsigned: return std::min(x, y);
        case kSegfoldReduceMaxUnsigned: return std::max(x, y);
        case kSegfoldReduceAnd: return x & y;
        case kSegfoldReduceOr: return x | y;
        default: return x ^ y;
    }
}

/// Returns the lane that `lane` reads in a shuffle, as PTX defines it.
unsigned source_lane(unsigned kind, unsigned lane, unsigned argument)
{
    const unsigned width = argument >> 8;
    const unsigned place = argument & 255u;
    const unsigned first = lane & ~(width - 1);
    const unsigned last = first + width - 1;
    switch (kind) {
        case kSegfoldShuffle: return first + (place & (width - 1));
        case kSegfoldShuffleUp: return lane >= first + place ? lane - place : lane;
        case kSegfoldShuffleDown: return lane + place <= last ? lane + place : lane;
        default: return (lane ^ place) <= last ? lane ^ place : lane;
    }
}

bool is_shuffle(unsigned kind) { return kind >= kSegfoldShuffle && kind <= kSegfoldShuffleXor; }

}  // namespace

bool waits_for_cluster(const Block& block)
{
    return block.arrived != 0 && block.arrived == block.live && block.barrier.kind == kSegfoldBarrierCluster;
}

void Worker::fail_barrier(const BarrierCall& call, const void* site)
{
    const auto waiting = std::ranges::find_if(block_->threads, [&](const Thread& thread) {
        const Warp& warp = block_->warps[thread.index / kWarpLanes];
        return (warp.at_barrier >> thread.index % kWarpLanes & 1) != 0;
    });
    const auto lines = lines_of(launch_, waiting == block_->threads.end() ? nullptr : waiting->site);
    const std::string other = call.kind == block_->barrier.kind ? "another " : "";
    fail(Fault::barrier_divergence, site,
         "calls " + barrier_name(call.kind) + " while other threads of the block wait at " + other +
             barrier_name(block_->barrier.kind) + line_text(launch_, lines, " in ") +
             "; a barrier is one statement that all of them reach");
}

unsigned Worker::barrier(const BarrierCall& call, unsigned value, const void* site)
{
    Block& block = *block_;
    if (block.arrived != 0 && block.barrier != call)
        fail_barrier(call, site);
    block.barrier = call;
    block.votes += value;
    thread_->kind = static_cast<std::uint8_t>(call.kind);
    if (++block.arrived == block.live) {
        if (call.kind != kSegfoldBarrierCluster) {
            release_barrier(block);
            return block.barrier_result;
        }
        if (cluster_waits()) {
            release_cluster();
            return block.barrier_result;
        }
    }
    thread_->site = site;
    warp().at_barrier |= 1u << lane();
    suspend();
    return block.barrier_result;
}

/// True if each thread of the running block's cluster has returned or waits at the barrier of the cluster.
bool Worker::cluster_waits() const
{
    return std::ranges::all_of(
        cluster(), [](const Block& block) { return block.live == 0 || waits_for_cluster(block); });
}

void Worker::release_cluster()
{
    const auto blocks = cluster();
    for (Block& block : blocks)
        if (block.live != 0)
            release_barrier(block);
    if (launch_.shadow)
        order_cluster(blocks);
}

void Worker::release_barrier(Block& block)
{
    const unsigned votes = std::exchange(block.votes, 0);
    switch (block.barrier.kind) {
        case kSegfoldBarrierOr: block.barrier_result = votes != 0; break;
        case kSegfoldBarrierAnd: block.barrier_result = votes == block.live; break;
        default: block.barrier_result = votes;
    }
    block.arrived = 0;
    block.barrier_time = ++block.time;
    if (block.uses_order)
        order_block(*this, block);
    for (Warp& warp : block.warps) {
        set_runnable(block, warp, warp.at_barrier);
        warp.at_barrier = 0;
        warp.phase = block.barrier_time;
    }
    progress_ += launch_.shadow ? 0 : 1;
}

void Worker::fail_meeting(std::uint32_t mask, unsigned kind, unsigned argument, const void* site)
{
    const Warp& mine = warp();
    std::string what = call_text(kind, mask);
    const std::uint32_t absent = mask & ~mine.live;
    if ((mask >> lane() & 1) == 0)
        what += " leaves out the calling lane " + std::to_string(lane());
    else if (absent != 0)
        what += " names " + lanes_text(absent) +
                ((absent & ~mine.lanes) != 0 ? ", beyond the block's last thread" : ", which has returned") +
                "; the live lanes are " + hexadecimal(mine.live);
    else
        what += " has width " + std::to_string(argument >> 8) + "; it must be a power of two up to 32";
    fail(Fault::warp_mask, site, what);
}

void Worker::fail_mixed(const Meeting& meeting, unsigned kind, const void* site)
{
    fail(Fault::warp_mask, site,
         "calls " + call_text(kind, meeting.mask) + " where " + lanes_text(meeting.arrived) +
             " of its warp called " + call_text(meeting.kind, meeting.mask));
}

std::uint64_t Worker::meet(std::uint32_t mask, unsigned kind, std::uint64_t value, unsigned argument,
                           const void* site)
{
    Warp& mine = warp();
    Thread& thread = *thread_;
    const std::uint32_t bit = 1u << lane();
    const unsigned width = argument >> 8;
    if ((mask & bit) == 0 || (mask & ~mine.live) != 0 ||
        (is_shuffle(kind) && (width > kWarpLanes || width == 0 || (width & (width - 1)) != 0)))
        fail_meeting(mask, kind, argument, site);
    thread.value = value;
    thread.argument = static_cast<std::uint16_t>(argument);
    thread.kind = static_cast<std::uint8_t>(kind);
    thread.site = site;

    Meeting* meeting = mine.meetings.data();
    Meeting* const end = meeting + mine.num_meetings;
    while (meeting != end && meeting->mask != mask)
        ++meeting;
    if (meeting == end) {
        ++mine.num_meetings;
        *meeting = {mask, 0, kind};
    } else if (meeting->kind != kind) {
        fail_mixed(*meeting, kind, site);
    }
    meeting->arrived |= bit;
    if (meeting->arrived != mask) {
        suspend();
        return thread.value;
    }
    *meeting = mine.meetings[--mine.num_meetings];
    complete_meeting(mine, mask, kind);
    set_runnable(*block_, mine, mask & ~bit);
    return thread.value;
}

std::uint64_t Worker::shuffled(Warp& warp, Thread& thread, std::uint32_t mask, const std::uint64_t* values)
{
    const unsigned lane = thread.index % kWarpLanes;
    const unsigned source = source_lane(thread.kind, lane, thread.argument);
    if ((mask >> source & 1) != 0)
        return values[source];
    if (!launch_.options.shuffles_read_mask_only)
        return 0x7ffadbad7ffadbadull;
    thread_ = &thread;
    fail(Fault::warp_mask, thread.site,
         call_text(thread.kind, mask) + " takes the value of lane " + std::to_string(source) +
             ", which the mask leaves out; the live lanes are " + hexadecimal(warp.live));
}

void Worker::complete_meeting(Warp& warp, std::uint32_t mask, unsigned kind)
{
    Thread* const first =
        &block_->threads[static_cast<std::size_t>(&warp - block_->warps.data()) * kWarpLanes];
    const auto for_each_lane = [mask](auto&& action) {
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
            action(static_cast<unsigned>(std::countr_zero(rest)));
    };
    if (launch_.shadow && (kind == kSegfoldSyncwarp || launch_.options.shuffles_order_memory))
        order_warp(*this, *block_, warp, mask);
    if (kind == kSegfoldSyncwarp)
        return;
    std::array<std::uint64_t, kWarpLanes> values;
    for_each_lane([&](unsigned lane) { values[lane] = first[lane].value; });
    if (is_shuffle(kind)) {
        for_each_lane(
            [&](unsigned lane) { first[lane].value = shuffled(warp, first[lane], mask, values.data()); });
        return;
    }
    std::uint32_t votes = 0;
    std::uint64_t total = values[static_cast<unsigned>(std::countr_zero(mask))];
    for_each_lane([&](unsigned lane) { votes |= static_cast<std::uint32_t>(values[lane] != 0) << lane; });
    for (std::uint32_t rest = mask & (mask - 1); rest != 0; rest &= rest - 1)
        total = reduce(kind, total, values[static_cast<unsigned>(std::countr_zero(rest))]);
    for_each_lane([&](unsigned lane) {
        std::uint32_t equal = 0;
        if (kind == kSegfoldMatchAny || kind == kSegfoldMatchAll)
            for_each_lane([&](unsigned other) {
                equal |= static_cast<std::uint32_t>(values[other] == values[lane]) << other;
            });
        std::uint64_t result = total;
        if (kind == kSegfoldBallot)
            result = votes;
        else if (kind == kSegfoldAny)
            result = votes != 0;
        else if (kind == kSegfoldAll)
            result = votes == mask;
        else if (kind == kSegfoldMatchAny)
            result = equal;
        else if (kind == kSegfoldMatchAll)
            result = equal == mask ? mask : 0;
        first[lane].value = result;
    });
}

}  // namespace segfold::simt
