#pragma once
// The state of a launch: its blocks, warps and threads, and the OS threads that carry them forward.
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/simt/execution/fiber.h"
#include "runtime/simt/execution/knowledge.h"
#include "runtime/simt/execution/random.h"
#include "runtime/simt/execution/shadow.h"
#include "runtime/simt/module.h"
#include "runtime/simt/program.h"

namespace segfold::simt {

constexpr unsigned kWarpLanes = 32;

/// One CUDA thread. Small, as every switch touches it.
struct Thread {
    Fiber* fiber = nullptr;      ///< null before it begins and after it ends
    std::uint64_t value = 0;     ///< its value for a meeting of its warp, then the meeting's result
    const void* site = nullptr;  ///< where in the text it waits
    std::uint16_t argument = 0;  ///< of a shuffle
    std::uint16_t index = 0;     ///< in the block
    std::uint8_t kind = 0;       ///< of the barrier or meeting it waits for
};

/// The flags that a thread reads again and again.
struct Polls {
    std::array<std::uintptr_t, 4> flags{};  ///< the last ones, the newest first
    std::uint64_t value = 0;                ///< of the newest
    std::uint8_t bytes = 0;                 ///< size of the newest; 0: the thread sleeps
    std::uint8_t count = 0;                 ///< reads since the thread last changed a flag or let others run
};

/// Knowledge of other threads that one thread has beyond barriers and warp meetings; see order.h.
struct Order {
    Knowledge known;             ///< acquired: holds for its next accesses
    Knowledge pending;           ///< read from flags, to be acquired by the next fence or barrier
    Knowledge published_device;  ///< knowledge that its flags publish since its last __threadfence()
    Knowledge published_block;   ///< likewise, within the block, since its last fence of either scope
    Place deferred;              ///< a flag whose volatile read has begun
};

/// A copy to shared memory under way.
struct PendingCopy {
    void* to;
    const void* from;
    std::uint32_t bytes;
    std::uint32_t group;
};

/// The copies of one thread that it has not waited for.
struct PendingCopies {
    std::vector<PendingCopy> copies;  ///< the oldest first
    std::uint32_t group = 0;          ///< of the next copy
};

/// Lanes that wait for each other in a warp-wide function.
struct Meeting {
    std::uint32_t mask = 0;
    std::uint32_t arrived = 0;
    std::uint32_t kind = 0;
};

using LaneTimes = std::array<std::array<std::uint32_t, kWarpLanes>, kWarpLanes>;

/// 32 threads of a block, or the rest of it.
struct Warp {
    std::uint32_t lanes = 0;  ///< lanes that exist
    std::uint32_t live = 0;   ///< lanes that have not returned
    std::uint32_t runnable = 0;
    std::uint32_t spinning = 0;  ///< lanes that yielded because the flag they read has not changed
    std::uint32_t at_barrier = 0;
    std::uint32_t phase = 0;   ///< time of the last event that orders accesses of its lanes
    std::uint32_t synced = 0;  ///< accesses of its lanes before this time are ordered for all of them
    std::unique_ptr<LaneTimes>
        partly_synced;  ///< [later lane][earlier lane], made at the first partial __syncwarp
    std::uint32_t num_meetings = 0;
    std::array<Meeting, kWarpLanes> meetings{};
};

/// The call that brings threads to a barrier of their block.
struct BarrierCall {
    unsigned kind = 0;
    unsigned statement = 0;  ///< call in the text, whatever the compiler makes of it

    bool operator==(const BarrierCall&) const = default;
};

/// A resident block. Its clock counts barriers, warp synchronisations and releases.
struct Block {
    bool active = false;
    std::uint64_t index = 0;   ///< in the grid, x fastest
    std::uint32_t number = 0;  ///< unique in the process
    std::array<unsigned, 3> place{};
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::uint32_t runnable_warps = 0;
    unsigned live = 0;
    unsigned spinning = 0;
    unsigned arrived = 0;  ///< threads at the barrier
    unsigned votes = 0;
    BarrierCall barrier;
    unsigned barrier_result = 0;
    std::uint32_t time = 0;
    std::uint32_t barrier_time = 0;
    bool uses_order = false;   ///< whether any thread has used a fence or a flag
    bool has_flagged = false;  ///< whether any thread has changed a flag
    Knowledge known;           ///< knowledge of all threads since the last barrier
    Knowledge published;       ///< knowledge that fences before the last barrier publish through any flag
    std::vector<Order> order;  ///< by thread
    std::vector<Polls> polls;  ///< by thread; empty until one reads a flag
    std::vector<PendingCopies> copies;    ///< by thread; empty until one starts a copy
    std::vector<std::byte> shared_image;  ///< its shared memory while another block has the core's copy
    std::unique_ptr<Shadow> shared_shadow;
    std::size_t shadowed_bytes = 0;
};

/// Whether all threads of a block that have not returned wait for the other blocks of its cluster.
bool waits_for_cluster(const Block& block);

/// Bytes of the thread-local segment that kernels may use.
struct SharedRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// State shared by the OS threads of a launch. A block without a cluster is one of its own.
struct Launch {
    Launch(const Module& module, std::string kernel, KernelEntry entry, void** arguments,
           const Dimensions& dimensions, const Options& options)
        : module(module),
          kernel(std::move(kernel)),
          entry(entry),
          arguments(arguments),
          dimensions(dimensions),
          options(options)
    {}

    const Module& module;
    std::string kernel;
    KernelEntry entry;
    void** arguments;
    Dimensions dimensions;
    Options options;
    unsigned block_threads = 0;
    std::uint64_t num_blocks = 0;
    std::uint32_t first_number = 0;  ///< `number` of the block with index 0
    unsigned num_workers = 1;
    unsigned cluster_blocks = 1;  ///< resident together, on one OS thread
    bool shadow = false;
    std::vector<std::uint32_t> order;  ///< clusters in order of start; empty: ascending
    std::vector<SharedRange> shared_ranges;
    std::vector<std::uint8_t> shared_words;  ///< for each word of the segment, a bit for each byte in use

    std::atomic<std::uint64_t> next_cluster{0};
    std::atomic<std::uint64_t> started_blocks{0};
    std::atomic<bool> failed{false};
    std::mutex failure_mutex;
    std::optional<SimtError> failure;
    std::exception_ptr error;                 ///< of the executor itself
    const std::atomic<bool>* stop = nullptr;  ///< the caller's stop_flag()

    /// One for each OS thread, on cache lines of their own.
    struct alignas(64) Progress {
        std::atomic<std::uint64_t> made{0};
        std::atomic<std::uint64_t> stuck_at{
            0};  ///< 1 + sum of all when this one found itself stuck; 0: it is not
    };
    std::vector<Progress> progress;         ///< anything that may let a waiting thread go on
    std::vector<Progress> strong_progress;  ///< of that, flags changed and threads ended
};

/// Keeps the first fault of a launch.
void report(Launch& launch, Fault fault, const std::string& message);

}  // namespace segfold::simt
