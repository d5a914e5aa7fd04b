#pragma once
// An OS thread that runs blocks of a launch, one CUDA thread at a time.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/simt/execution/execution.h"

namespace segfold::simt {

/// Memory that an OS thread keeps from launch to launch: stacks, and the states of resident blocks.
struct WorkerMemory {
    WorkerMemory();
    FiberPool fibers;
    std::vector<Block> slots;
};

/// Worker::fail() throws this object after it has reported a fault. The executor catches it before it reaches
/// stack frames of the text.
struct Abandoned {};

/// Runs blocks of one launch on the calling OS thread until no block is left or the launch has failed.
///
/// The text calls the functions that are declared after `run`, on the stack of a CUDA thread. A function that
/// waits returns at the thread's next turn. A fault unwinds the executor's stack frames and then abandons the
/// stack.
class Worker {
public:
    Worker(Launch& launch, WorkerMemory& memory, unsigned index, unsigned num_slots);

    void run();

    [[nodiscard]] Block& block() { return *block_; }
    /// Returns the blocks of the running block's cluster, this block included, ordered by rank.
    [[nodiscard]] std::span<Block> cluster() const;
    [[nodiscard]] Thread& thread() { return *thread_; }
    [[nodiscard]] Warp& warp() { return block_->warps[thread_->index / kWarpLanes]; }
    [[nodiscard]] Order& order()
    {
        // Most blocks use neither fences nor flags.
        if (block_->order.empty())
            block_->order.resize(launch_.block_threads);
        return block_->order[thread_->index];
    }
    [[nodiscard]] unsigned lane() const { return thread_->index % kWarpLanes; }
    [[nodiscard]] Launch& launch() { return launch_; }
    /// True if a CUDA thread is running, on the stack fiber(); false if the worker's own loop is running.
    [[nodiscard]] bool on_fiber() const { return fiber_ != nullptr; }
    [[nodiscard]] const Fiber& fiber() const { return *fiber_; }
    [[nodiscard]] std::uintptr_t shared_base() const { return shared_base_; }
    [[nodiscard]] std::uint64_t switches() const { return switches_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t clock() { return ++clock_ + steps_; }

    /// Runs the chosen thread to its end. The code of every fiber calls this function in a loop.
    void run_thread();
    unsigned barrier(const BarrierCall& call, unsigned value, const void* site);
    std::uint64_t meet(std::uint32_t mask, unsigned kind, std::uint64_t value, unsigned argument,
                       const void* site);
    /// Must be called before a read of a flag. Lets other threads run if the flag has not changed since this
    /// thread's last read.
    void poll(std::uintptr_t address, std::size_t bytes, const void* site);
    void sleep(const void* site);
    /// Must be called after the running thread has changed a flag. A random schedule then sometimes continues
    /// another thread.
    void changed_flag();
    /// Returns the number of successive earlier calls that found the running thread at the same step, with no
    /// access and no switch since. A timer uses the number to find endless loops.
    int looks_at_same_step();
    /// Must be called before every checked memory access.
    void count_access() { ++accesses_; }
    /// Must be called after a plain write.
    void made_progress() { ++progress_; }

    /// Reports a fault of the running thread with the message "kernel …, block …, thread …, line …: `what`".
    [[noreturn]] void fail(Fault fault, const void* site, const std::string& what);
    /// Stores the current exception, an error of the executor itself, as the launch's outcome. The caller
    /// must call `leave` next.
    void keep_current_exception();
    /// Abandons the running stack.
    [[noreturn]] void leave();

    /// Stores the flag of the running atomic function, for atomic_flag().
    void set_atomic_flag(const Place& flag) { atomic_flag_ = flag; }
    [[nodiscard]] const Place& atomic_flag() const { return atomic_flag_; }

private:
    Block* choose_block();
    void start_cluster(Block& first);
    void start_block(Block& block, std::uint64_t index);
    void end_block();
    void activate(Block& block);
    void poison_shared(Block& block);
    void next_round();
    void report_stuck();
    void check_deadlock(Block& block);
    std::string describe_waits(const Block& block);
    void made_strong_progress();
    [[nodiscard]] bool all_are_stuck(std::vector<Launch::Progress>& progress, unsigned& rounds,
                                     std::uint64_t& seen_total);

    Thread* pick();
    unsigned pick_warp(std::uint32_t warps);
    void resume(Thread& next);
    /// Prepares the switch to `next`, and returns the fiber on which `next` runs.
    Fiber* go_on_with(Thread& next);
    /// Chooses the thread that continues while the running thread waits, and returns its fiber. Returns null
    /// if the running thread itself continues.
    Fiber* choose_next();
    /// Waits for the running thread's next turn. It is inlined, to keep the stack of a waiting thread
    /// shallow.
    void suspend()
    {
        Fiber& from = *fiber_;
        if (Fiber* to = choose_next())
            switch_fiber(from, *to);
    }
    [[noreturn]] void fail_meeting(std::uint32_t mask, unsigned kind, unsigned argument, const void* site);
    [[noreturn]] void fail_mixed(const Meeting& meeting, unsigned kind, const void* site);
    [[noreturn]] void fail_barrier(const BarrierCall& call, const void* site);
    Polls& polls();
    void spin(const void* site);
    void end_thread();
    void release_barrier(Block& block);
    [[nodiscard]] bool cluster_waits() const;
    void release_cluster();
    void complete_meeting(Warp& warp, std::uint32_t mask, unsigned kind);
    std::uint64_t shuffled(Warp& warp, Thread& thread, std::uint32_t mask, const std::uint64_t* values);
    static void set_runnable(Block& block, Warp& warp, std::uint32_t lanes);

    Launch& launch_;
    WorkerMemory& memory_;
    unsigned index_;
    Random random_;
    Fiber loop_;              ///< the point at which `run` will continue
    Fiber* fiber_ = nullptr;  ///< the running fiber
    Place atomic_flag_;
    Block* block_ = nullptr;
    Thread* thread_ = nullptr;
    Block* shared_owner_ = nullptr;  ///< the block whose shared memory is in this OS thread's copy
    std::uintptr_t shared_base_ = 0;
    unsigned warp_index_ = 0;
    unsigned num_active_ = 0;
    std::array<std::uint8_t, kWarpLanes> priority_{};  ///< warp indices by priority, highest first
    std::uint32_t steps_to_change_ = 0;
    bool random_switches_ = false;
    bool leaves_block_ = false;  ///< true if the next wait should switch to another block
    bool may_change_block_ = false;
    std::uint64_t switches_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t clock_ = 0;
    std::uint64_t accesses_ = 0;
    std::uint64_t looked_at_ = 0;
    int looks_ = 0;
    std::uint64_t progress_ = 0;         ///< counts every event that may let a waiting thread continue
    std::uint64_t strong_progress_ = 0;  ///< counts changed flags and ended threads
    std::uint64_t round_progress_ = 0;
    std::uint64_t round_strong_progress_ = 0;
    /// Sum of all workers' progress, plus 1, when this worker last found that it had made none.
    std::uint64_t seen_total_ = 0;
    std::uint64_t seen_strong_total_ = 0;  ///< like seen_total_, for strong progress
    bool is_called_stuck_ = false;  ///< true if this worker marked itself as stuck because it changes no flag
    unsigned idle_rounds_ = 0;
    unsigned weak_rounds_ = 0;
};

/// The worker that runs on this OS thread; null if none runs.
extern thread_local Worker* current_worker;

}  // namespace segfold::simt
