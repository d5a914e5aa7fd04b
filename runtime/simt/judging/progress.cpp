// Detects that no thread can go on, because of a deadlock or endless polling, and writes the messages.
#include <sched.h>

#include <fmt/format.h>

#include <map>

#include "runtime/simt/execution/worker.h"
#include "runtime/simt/judging/findings.h"

namespace segfold::simt {
namespace {

// A launch is stuck after this many rounds in which every thread only waits: kIdleRounds without any
// progress, kWeakRounds with progress that changes no flag.
constexpr unsigned kIdleRounds = 2000;
constexpr unsigned kWeakRounds = 4000;

/// Threads, grouped by the kind and the place of their wait.
using Waits = std::map<std::pair<std::string, const void*>, std::vector<unsigned>>;

Waits collect_waits(const Launch& launch, std::uintptr_t shared_base, const Block& block)
{
    Waits waits;
    for (const Thread& thread : block.threads) {
        const Warp& warp = block.warps[thread.index / kWarpLanes];
        const std::uint32_t bit = 1u << thread.index % kWarpLanes;
        std::string what;
        if ((warp.at_barrier & bit) != 0)
            what = "waits at " + barrier_name(thread.kind);
        else if ((warp.spinning & bit) != 0 && block.polls[thread.index].bytes == 0)
            what = "sleeps";
        else if ((warp.spinning & bit) != 0)
            what = "spins on " + memory_text(launch, shared_base, block.polls[thread.index].flags[0],
                                             block.polls[thread.index].bytes);
        for (std::uint32_t i = 0; i < warp.num_meetings; ++i)
            if ((warp.meetings[i].arrived & bit) != 0)
                what = "waits at " + call_text(warp.meetings[i].kind, warp.meetings[i].mask);
        if (!what.empty())
            waits[{what, thread.site}].push_back(thread.index);
    }
    return waits;
}

}  // namespace

std::string Worker::describe_waits(const Block& block)
{
    const Waits waits = collect_waits(launch_, shared_base_, block);
    std::vector<const void*> sites;
    for (const auto& [wait, threads] : waits)
        sites.push_back(wait.second);
    const auto lines = lines_of(launch_, sites);
    std::string text;
    std::size_t i = 0;
    for (const auto& [wait, threads] : waits) {
        std::string what = wait.first;
        if (threads.size() > 1)
            what.erase(what.find('s', what[0] == 's' ? 1 : 0), 1);
        text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", threads_text(threads), what,
                            line_text(launch_, lines[i++], " in "));
    }
    return text;
}

void Worker::check_deadlock(Block& block)
{
    bool at_barrier = false;
    for (const Warp& warp : block.warps)
        at_barrier = at_barrier || warp.at_barrier != 0;
    report(launch_, at_barrier ? Fault::barrier_divergence : Fault::warp_mask,
           fmt::format("{}: no thread can go on: {}; {} have returned{}", block_text(launch_, block),
                       describe_waits(block), launch_.block_threads - block.live, replay_text(launch_)));
}

// Counts a changed flag or an ended thread. Removes this worker's mark as stuck at once, because other
// workers may look at the mark before this worker's next round.
void Worker::made_strong_progress()
{
    ++strong_progress_;
    if (std::exchange(is_called_stuck_, false))
        launch_.strong_progress[index_].stuck_at.store(0, std::memory_order_release);
}

void Worker::next_round()
{
    for (Block& block : memory_.slots) {
        if (!block.active || block.spinning == 0)
            continue;
        block.spinning = 0;
        block_ = &block;
        for (Warp& warp : block.warps)
            set_runnable(block, warp, std::exchange(warp.spinning, 0));
    }
    Launch::Progress& mine = launch_.progress[index_];
    const bool strong = round_strong_progress_ != strong_progress_;
    const bool any = strong || round_progress_ != progress_;
    round_progress_ = progress_;
    round_strong_progress_ = strong_progress_;
    launch_.strong_progress[index_].made.store(strong_progress_, std::memory_order_release);
    mine.made.store(progress_ + strong_progress_, std::memory_order_release);
    if (any)
        mine.stuck_at.store(0, std::memory_order_release);
    idle_rounds_ = any ? 0 : idle_rounds_ + 1;
    weak_rounds_ = strong ? 0 : weak_rounds_ + 1;
    if (idle_rounds_ > kIdleRounds && all_are_stuck(launch_.progress, idle_rounds_, seen_total_)) {
        report_stuck();
    } else if (weak_rounds_ > kWeakRounds) {
        is_called_stuck_ = true;
        if (all_are_stuck(launch_.strong_progress, weak_rounds_, seen_strong_total_))
            report_stuck();
    }
}

// Marks this worker as stuck. Returns true if all workers are now marked as stuck.
bool Worker::all_are_stuck(std::vector<Launch::Progress>& progress, unsigned& rounds,
                           std::uint64_t& seen_total)
{
    const auto total_made = [&] {
        std::uint64_t total = 0;
        for (const Launch::Progress& one : progress)
            total += one.made.load(std::memory_order_acquire);
        return total;
    };
    // If another core has made progress, the count of rounds starts again, because this core's threads may
    // not have seen the other core's writes yet. A thread that polls several flags in turn needs several
    // rounds to see all of them.
    const std::uint64_t total = total_made();
    if (std::exchange(seen_total, total + 1) != total + 1) {
        rounds = 0;
        sched_yield();
        return false;
    }
    progress[index_].stuck_at.store(total + 1, std::memory_order_release);
    for (const Launch::Progress& one : progress) {
        const std::uint64_t at = one.stuck_at.load(std::memory_order_acquire);
        if (at != total + 1 && at != ~std::uint64_t{0}) {
            // Another core may still write the flag.
            sched_yield();
            return false;
        }
    }
    return total_made() == total;  // false if another core has just ended its last block
}

void Worker::report_stuck()
{
    const Block* stuck = nullptr;
    for (const Block& block : memory_.slots)
        if (block.active && (stuck == nullptr || block.index < stuck->index))
            stuck = &block;
    for (Warp& warp : const_cast<Block*>(stuck)->warps)
        warp.spinning = std::exchange(warp.runnable, 0);
    const std::uint64_t started = launch_.started_blocks.load(std::memory_order_relaxed);
    std::string blocks;
    if (started < launch_.num_blocks)
        blocks = fmt::format("; {} of {} have not started, as only {} can be resident",
                             launch_.num_blocks - started, counted(launch_.num_blocks, "block"),
                             launch_.options.resident_blocks);
    report(launch_, Fault::no_progress,
           fmt::format("{}: no thread makes progress: {}{}{}", block_text(launch_, *stuck),
                       describe_waits(*stuck), blocks, replay_text(launch_)));
}

int Worker::looks_at_same_step()
{
    const std::uint64_t step = steps_ + accesses_;
    looks_ = std::exchange(looked_at_, step) == step ? looks_ + 1 : 0;
    return looks_;
}

void Worker::fail(Fault fault, const void* site, const std::string& what)
{
    report(launch_, fault,
           fmt::format("{}, {}{}: {}{}", block_text(launch_, *block_), thread_text(launch_, thread_->index),
                       line_text(launch_, lines_with_callers(launch_, site)), what, replay_text(launch_)));
    throw Abandoned();
}

}  // namespace segfold::simt
