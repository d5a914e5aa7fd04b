#include "runtime/simt/execution/worker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dsl/stopped.h"

namespace segfold::simt {

thread_local Worker* current_worker = nullptr;

namespace {

// Average numbers of events per random switch. Another block continues after one wait in kBlockStay and
// before one read of a flag in kReadStay. Another thread continues after one change of a flag in kFlagStay.
constexpr std::uint32_t kBlockStay = 128;
constexpr std::uint32_t kFlagStay = 4;
constexpr std::uint32_t kReadStay = 16;
// A thread that polls several flags in turn lets other threads run after this many reads.
constexpr std::uint8_t kPollsInTurn = 8;

/// Returns this OS thread's worker. It must not be inlined, because a later launch may reuse the fiber on
/// another OS thread, where `current_worker` is another variable.
__attribute__((noinline)) Worker& running_worker() { return *current_worker; }

void fiber_entry(boost::context::detail::transfer_t arrival)
{
    begin_fiber(arrival);
    for (;;)
        running_worker().run_thread();
}

}  // namespace

WorkerMemory::WorkerMemory() : fibers(fiber_entry) {}

void report(Launch& launch, Fault fault, const std::string& message)
{
    const std::lock_guard lock(launch.failure_mutex);
    if (!launch.failure && !launch.error)
        launch.failure.emplace(fault, message);
    launch.failed.store(true, std::memory_order_relaxed);
}

namespace {

void stop(Launch& launch)
{
    const std::lock_guard lock(launch.failure_mutex);
    if (!launch.failure && !launch.error)
        launch.error = std::make_exception_ptr(Stopped());
    launch.failed.store(true, std::memory_order_relaxed);
}

}  // namespace

Worker::Worker(Launch& launch, WorkerMemory& memory, unsigned index, unsigned num_slots)
    : launch_(launch), memory_(memory), index_(index), random_(launch.options.seed * 1000003 + index)
{
    memory_.slots.resize(num_slots);
    for (Block& block : memory_.slots)
        block.active = false;
    const Schedule schedule = launch.options.schedule;
    random_switches_ = schedule == Schedule::sticky_warp || schedule == Schedule::priority;
    may_change_block_ = random_switches_ && num_slots > 1;
    shared_base_ = reinterpret_cast<std::uintptr_t>(launch.module.shared_memory());
}

void Worker::run()
{
    current_worker = this;
    for (std::size_t i = 0; i < memory_.slots.size(); i += launch_.cluster_blocks)
        start_cluster(memory_.slots[i]);
    while (num_active_ != 0 && !launch_.failed.load(std::memory_order_relaxed)) {
        if (launch_.stop != nullptr && launch_.stop->load(std::memory_order_relaxed)) {
            stop(launch_);
            break;
        }
        Block* next = choose_block();
        if (next == nullptr) {
            next_round();
            continue;
        }
        activate(*next);
        resume(*pick());
        if (launch_.failed.load(std::memory_order_relaxed))
            break;
        if (block_->live == 0)
            end_block();
        else if (block_->runnable_warps == 0 && block_->spinning == 0 && !waits_for_cluster(*block_))
            check_deadlock(*block_);
    }
    launch_.strong_progress[index_].made.store(strong_progress_, std::memory_order_release);
    launch_.progress[index_].made.store(progress_ + strong_progress_, std::memory_order_release);
    for (auto* progress : {&launch_.progress, &launch_.strong_progress})
        (*progress)[index_].stuck_at.store(~std::uint64_t{0}, std::memory_order_release);
    current_worker = nullptr;
}

std::span<Block> Worker::cluster() const
{
    const auto slot = static_cast<std::size_t>(block_ - memory_.slots.data());
    const unsigned size = launch_.cluster_blocks;
    return {&memory_.slots[slot / size * size], size};
}

/// Starts the next cluster in the slots from `first` on, which must be inactive. Starts nothing if no cluster
/// is left.
void Worker::start_cluster(Block& first)
{
    const std::uint64_t turn = launch_.next_cluster.fetch_add(1, std::memory_order_relaxed);
    if (turn >= launch_.num_blocks / launch_.cluster_blocks)
        return;
    const std::uint64_t cluster = launch_.order.empty() ? turn : launch_.order[turn];
    for (unsigned rank = 0; rank < launch_.cluster_blocks; ++rank)
        start_block((&first)[rank], cluster * launch_.cluster_blocks + rank);
}

void Worker::end_block()
{
    block_->active = false;
    --num_active_;
    const auto blocks = cluster();
    if (std::ranges::none_of(blocks, &Block::active))
        start_cluster(blocks.front());
}

void Worker::start_block(Block& block, std::uint64_t index)
{
    block.active = true;
    ++num_active_;
    launch_.started_blocks.fetch_add(1, std::memory_order_relaxed);
    block.index = index;
    block.number = launch_.first_number + static_cast<std::uint32_t>(index);
    const Dimensions& shape = launch_.dimensions;
    block.place = {static_cast<unsigned>(index % shape.grid_x),
                   static_cast<unsigned>(index / shape.grid_x % shape.grid_y),
                   static_cast<unsigned>(index / shape.grid_x / shape.grid_y)};
    const unsigned count = launch_.block_threads;
    block.threads.assign(count, Thread{});
    for (unsigned i = 0; i < count; ++i)
        block.threads[i].index = static_cast<std::uint16_t>(i);
    block.warps = std::vector<Warp>((count + kWarpLanes - 1) / kWarpLanes);
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
        const unsigned lanes = std::min(kWarpLanes, count - static_cast<unsigned>(w) * kWarpLanes);
        Warp& warp = block.warps[w];
        warp.lanes = warp.live = warp.runnable = lanes == kWarpLanes ? ~0u : (1u << lanes) - 1;
        warp.phase = warp.synced = 1;
    }
    block.runnable_warps = block.warps.size() == 32 ? ~0u : (1u << block.warps.size()) - 1;
    block.live = count;
    block.spinning = block.arrived = block.votes = 0;
    block.time = block.barrier_time = 1;
    block.uses_order = false;
    block.has_flagged = false;
    block.known = block.published = nullptr;
    block.order.clear();
    block.polls.clear();
    block.copies.clear();
    poison_shared(block);
    made_strong_progress();
}

void Worker::poison_shared(Block& block)
{
    if (launch_.shared_ranges.empty())
        return;
    const std::size_t bytes = launch_.module.symbols().shared_bytes;
    if (launch_.shadow && block.shadowed_bytes < bytes) {
        block.shared_shadow = std::make_unique<Shadow>(bytes);
        block.shadowed_bytes = bytes;
    }
    if (shared_owner_ != &block && shared_owner_ != nullptr && shared_owner_->active)
        for (const SharedRange& range : launch_.shared_ranges)
            std::memcpy(shared_owner_->shared_image.data() + range.begin,
                        reinterpret_cast<void*>(shared_base_ + range.begin), range.end - range.begin);
    if (memory_.slots.size() > 1)
        block.shared_image.resize(bytes);
    shared_owner_ = &block;
    for (const SharedRange& range : launch_.shared_ranges)
        for (std::size_t i = range.begin; i < range.end; i += sizeof kPoison)
            std::memcpy(reinterpret_cast<void*>(shared_base_ + i), &kPoison,
                        std::min(sizeof kPoison, range.end - i));
}

void Worker::activate(Block& block)
{
    block_ = &block;
    if (shared_owner_ == &block || launch_.shared_ranges.empty())
        return;
    for (const SharedRange& range : launch_.shared_ranges) {
        auto* memory = reinterpret_cast<std::byte*>(shared_base_ + range.begin);
        if (shared_owner_ != nullptr && shared_owner_->active)
            std::memcpy(shared_owner_->shared_image.data() + range.begin, memory, range.end - range.begin);
        std::memcpy(memory, block.shared_image.data() + range.begin, range.end - range.begin);
    }
    shared_owner_ = &block;
}

void Worker::run_thread()
{
    launch_.entry(launch_.arguments);
    try {
        end_thread();
        // The function must return now, because this worker may no longer exist when the fiber is reused.
        return;
    } catch (const Abandoned&) {
    } catch (...) {
        keep_current_exception();
    }
    leave();
}

Fiber* Worker::go_on_with(Thread& next)
{
    if (next.fiber == nullptr)
        next.fiber = &memory_.fibers.take();
    thread_ = &next;
    ++steps_;
    ++switches_;
    return fiber_ = next.fiber;
}

void Worker::resume(Thread& next) { switch_fiber(loop_, *go_on_with(next)); }

Fiber* Worker::choose_next()
{
    const bool change_block = may_change_block_ && (leaves_block_ || random_.below(kBlockStay) == 0);
    leaves_block_ = false;
    if (!change_block && !launch_.failed.load(std::memory_order_relaxed)) {
        if (Thread* next = pick()) {
            if (next != thread_)
                return go_on_with(*next);
            ++steps_;
            return nullptr;
        }
    }
    fiber_ = nullptr;
    ++switches_;
    return &loop_;
}

void Worker::leave()
{
    Fiber& abandoned = *fiber_;
    fiber_ = nullptr;
    switch_fiber(abandoned, loop_);
    std::abort();
}

void Worker::end_thread()
{
    Thread& ended = *thread_;
    Warp& mine = warp();
    const std::uint32_t bit = 1u << lane();
    for (std::uint32_t i = 0; i < mine.num_meetings; ++i)
        if ((mine.meetings[i].mask & bit) != 0)
            fail(Fault::warp_mask, nullptr, "returns although a mask names it: " + describe_waits(*block_));
    ended.fiber = nullptr;
    mine.live &= ~bit;
    --block_->live;
    made_strong_progress();
    if (launch_.cluster_blocks > 1 && cluster_waits())
        release_cluster();
    else if (block_->arrived != 0 && block_->arrived == block_->live && !waits_for_cluster(*block_))
        release_barrier(*block_);
    Thread* next = block_->live == 0 || launch_.failed.load(std::memory_order_relaxed) ? nullptr : pick();
    if (next != nullptr && next->fiber == nullptr) {
        // The next thread has not begun, so it can begin on this stack.
        next->fiber = fiber_;
        thread_ = next;
        ++steps_;
        return;
    }
    Fiber& idle = *fiber_;
    memory_.fibers.give_back(idle);
    if (next != nullptr) {
        switch_fiber(idle, *go_on_with(*next));
    } else {
        fiber_ = nullptr;
        ++switches_;
        switch_fiber(idle, loop_);
    }
}

void Worker::set_runnable(Block& block, Warp& warp, std::uint32_t lanes)
{
    if (lanes == 0)
        return;
    warp.runnable |= lanes;
    block.runnable_warps |= 1u << (&warp - block.warps.data());
}

Polls& Worker::polls()
{
    if (block_->polls.empty())
        block_->polls.resize(launch_.block_threads);
    return block_->polls[thread_->index];
}

void Worker::spin(const void* site)
{
    thread_->site = site;
    polls().count = 0;
    warp().spinning |= 1u << lane();
    ++block_->spinning;
    suspend();
}

void Worker::poll(std::uintptr_t address, std::size_t bytes, const void* site)
{
    const auto read_flag = [=] {
        std::uint64_t value = 0;
        std::memcpy(&value, reinterpret_cast<const void*>(address), std::min(bytes, sizeof value));
        return value;
    };
    Polls& mine = polls();
    mine.bytes = static_cast<std::uint8_t>(bytes);
    if (mine.flags[0] == address && mine.value == read_flag()) {
        spin(site);
    } else {
        auto place = std::find(mine.flags.begin(), mine.flags.end(), address);
        if (place == mine.flags.end()) {
            ++progress_;
            --place;
        }
        std::rotate(mine.flags.begin(), place, std::next(place));
        mine.flags[0] = address;
        if (++mine.count >= kPollsInTurn) {
            spin(site);
        } else if (may_change_block_ && random_.below(kReadStay) == 0) {
            set_runnable(*block_, warp(), 1u << lane());
            leaves_block_ = true;
            suspend();
        }
    }
    mine.value = read_flag();
}

void Worker::sleep(const void* site)
{
    polls().bytes = 0;
    spin(site);
}

void Worker::changed_flag()
{
    made_strong_progress();
    polls().count = 0;
    if (launch_.options.schedule == Schedule::overtaking) {
        block_->has_flagged = true;
        sleep(thread_->site);
    } else if (random_switches_ && random_.below(kFlagStay) == 0) {
        set_runnable(*block_, warp(), 1u << lane());
        suspend();
    }
}

void Worker::keep_current_exception()
{
    const std::lock_guard lock(launch_.failure_mutex);
    if (!launch_.failure && !launch_.error)
        launch_.error = std::current_exception();
    launch_.failed.store(true, std::memory_order_relaxed);
}

}  // namespace segfold::simt
