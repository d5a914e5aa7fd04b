// Chooses the block, the warp and the thread that run next.
#include <algorithm>
#include <bit>
#include <numeric>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {
namespace {

// On average, the sticky schedule draws a new warp once in this many choices.
constexpr std::uint32_t kStay = 64;
// Priorities change after at most this many choices.
constexpr std::uint32_t kStepsToChange = 3000;

/// True if block `one` runs before block `other` under a schedule without random choices.
bool goes_before(const Block& one, const Block& other, Schedule schedule)
{
    bool ascending = schedule == Schedule::ascending;
    if (schedule == Schedule::overtaking) {
        if (one.has_flagged != other.has_flagged)
            return !one.has_flagged;
        ascending = !one.has_flagged;
    }
    return (one.index < other.index) == ascending;
}

}  // namespace

std::string_view name(Schedule schedule)
{
    constexpr std::string_view kNames[] = {"ascending", "descending", "sticky_warp", "priority",
                                           "overtaking"};
    return kNames[static_cast<int>(schedule)];
}

std::string_view name(BlockOrder order)
{
    constexpr std::string_view kNames[] = {"ascending", "descending", "random"};
    return kNames[static_cast<int>(order)];
}

Options options_from_seed(std::uint64_t seed)
{
    constexpr Schedule kSchedules[] = {Schedule::ascending, Schedule::sticky_warp, Schedule::priority,
                                       Schedule::descending};
    constexpr BlockOrder kOrders[] = {BlockOrder::ascending, BlockOrder::random, BlockOrder::descending};
    Options options;
    options.seed = seed;
    options.schedule = kSchedules[seed % std::size(kSchedules)];
    options.block_order = kOrders[seed % std::size(kOrders)];
    return options;
}

unsigned Worker::pick_warp(std::uint32_t warps)
{
    switch (launch_.options.schedule) {
        case Schedule::ascending: return static_cast<unsigned>(std::countr_zero(warps));
        case Schedule::descending:
        case Schedule::overtaking: return 31u - static_cast<unsigned>(std::countl_zero(warps));
        case Schedule::sticky_warp:
            if ((warps >> warp_index_ & 1) == 0 || random_.below(kStay) == 0)
                return random_.bit_of(warps);
            return warp_index_;
        case Schedule::priority: break;
    }
    if (steps_to_change_ == 0) {
        steps_to_change_ = 1 + random_.below(kStepsToChange);
        const auto count = static_cast<std::uint32_t>(block_->warps.size());
        if (priority_[0] == priority_[1]) {
            std::iota(priority_.begin(), priority_.end(), std::uint8_t{0});
            for (std::uint32_t i = count; i > 1; --i)
                std::swap(priority_[i - 1], priority_[random_.below(i)]);
        }
        std::swap(priority_[random_.below(count)], priority_[random_.below(count)]);
    }
    --steps_to_change_;
    const auto urgent = std::find_if(priority_.begin(), priority_.end(),
                                     [warps](std::uint8_t warp) { return (warps >> warp & 1) != 0; });
    return *urgent;
}

Thread* Worker::pick()
{
    const std::uint32_t warps = block_->runnable_warps;
    if (warps == 0)
        return nullptr;
    warp_index_ = pick_warp(warps);
    Warp& warp = block_->warps[warp_index_];
    unsigned lane = 0;
    if (random_switches_)
        lane = random_.bit_of(warp.runnable);
    else if (launch_.options.schedule == Schedule::ascending)
        lane = static_cast<unsigned>(std::countr_zero(warp.runnable));
    else
        lane = 31u - static_cast<unsigned>(std::countl_zero(warp.runnable));
    warp.runnable &= ~(1u << lane);
    if (warp.runnable == 0)
        block_->runnable_warps &= ~(1u << warp_index_);
    return &block_->threads[warp_index_ * kWarpLanes + lane];
}

Block* Worker::choose_block()
{
    auto& slots = memory_.slots;
    const std::size_t start =
        random_switches_ && slots.size() > 1 ? random_.below(static_cast<std::uint32_t>(slots.size())) : 0;
    Block* chosen = nullptr;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        Block& block = slots[(start + i) % slots.size()];
        if (!block.active || block.runnable_warps == 0)
            continue;
        if (random_switches_)
            return &block;
        if (chosen == nullptr || goes_before(block, *chosen, launch_.options.schedule))
            chosen = &block;
    }
    return chosen;
}

}  // namespace segfold::simt
