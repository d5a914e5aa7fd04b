#pragma once
// An OS thread that carries blocks of a launch forward, one CUDA thread at a time.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/simt/execution/execution.h"

namespace segfold::simt {

/// Stacks and states of resident blocks, which outlive a launch on an OS thread.
struct WorkerMemory {
    WorkerMemory();
    FiberPool fibers;
    std::vector<Block> slots;
};

/// Thrown by `Worker::fail` once the fault is reported. Caught before it reaches the text's stack frames.
struct Abandoned {};

/// Runs blocks of one launch on the calling OS thread until none is left or the launch has failed.
///
/// Functions below `run` are called on a CUDA thread's stack, from the compiled text; those that wait return
/// when the thread's turn has come again. A fault unwinds the executor's frames, then leaves the stack for
/// good.
class Worker {
public:
    Worker(Launch& launch, WorkerMemory& memory, unsigned index, unsigned num_slots);

    void run();

    [[nodiscard]] Block& block() { return *block_; }
    /// The blocks of the running block's cluster, itself among them, by rank.
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
    /// Whether a CUDA thread is running, on `fiber()`; else the worker's own loop is.
    [[nodiscard]] bool on_fiber() const { return fiber_ != nullptr; }
    [[nodiscard]] const Fiber& fiber() const { return *fiber_; }
    [[nodiscard]] std::uintptr_t shared_base() const { return shared_base_; }
    [[nodiscard]] std::uint64_t switches() const { return switches_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t clock() { return ++clock_ + steps_; }

    /// The loop of a fiber: runs the chosen thread to its end, again and again.
    void run_thread();
    unsigned barrier(const BarrierCall& call, unsigned value, const void* site);
    std::uint64_t meet(std::uint32_t mask, unsigned kind, std::uint64_t value, unsigned argument,
                       const void* site);
    /// Before a read of a flag: lets others run when the flag has not changed since this thread last read it.
    void poll(std::uintptr_t address, std::size_t bytes, const void* site);
    void sleep(const void* site);
    /// After a thread has changed a flag; now and then another thread goes on here.
    void changed_flag();
    /// How many calls of this function in a row have found the worker at one step of one thread.
    int looks_at_same_step();
    /// Before every access of memory that is checked.
    void count_access() { ++accesses_; }
    /// After a plain write.
    void made_progress() { ++progress_; }

    /// Reports a fault of the running thread, whose message is "kernel …, block …, thread …, line …: `what`".
    [[noreturn]] void fail(Fault fault, const void* site, const std::string& what);
    /// Keeps an exception of the executor itself as the launch's outcome; to be followed by `leave`.
    void keep_current_exception();
    /// Leaves the running stack for good.
    [[noreturn]] void leave();

    /// The flag of the atomic function that is running.
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
    /// Prepares the switch to `next` and returns its fiber.
    Fiber* go_on_with(Thread& next);
    /// Chooses who goes on while the running thread waits; null: that thread itself.
    Fiber* choose_next();
    /// Waits until the running thread's turn has come again. Inlined: a waiting thread's stack stays shallow.
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
    Fiber loop_;              ///< where `run` goes on
    Fiber* fiber_ = nullptr;  ///< the running one
    Place atomic_flag_;
    Block* block_ = nullptr;
    Thread* thread_ = nullptr;
    Block* shared_owner_ = nullptr;  ///< whose shared memory the core's copy holds
    std::uintptr_t shared_base_ = 0;
    unsigned warp_index_ = 0;
    unsigned num_active_ = 0;
    std::array<std::uint8_t, kWarpLanes> priority_{};  ///< warps, the most urgent first
    std::uint32_t steps_to_change_ = 0;
    bool random_switches_ = false;
    bool leaves_block_ = false;  ///< at the next wait
    bool may_change_block_ = false;
    std::uint64_t switches_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t clock_ = 0;
    std::uint64_t accesses_ = 0;
    std::uint64_t looked_at_ = 0;
    int looks_ = 0;
    std::uint64_t progress_ = 0;         ///< anything that may let a waiting thread go on
    std::uint64_t strong_progress_ = 0;  ///< flags changed, threads ended
    std::uint64_t round_progress_ = 0;
    std::uint64_t round_strong_progress_ = 0;
    std::uint64_t seen_total_ = 0;  ///< 1 + the progress of all that this one saw last when it had none
    std::uint64_t seen_strong_total_ = 0;  ///< likewise, of flags changed and threads ended
    bool is_called_stuck_ = false;         ///< by itself, as it changes no flag
    unsigned idle_rounds_ = 0;
    unsigned weak_rounds_ = 0;
};

/// The worker that runs on this OS thread, or null.
extern thread_local Worker* current_worker;

}  // namespace segfold::simt
