#pragma once
// The state of a launch: its blocks, warps and threads, and the OS threads that run them.
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

/// One CUDA thread. The struct is small, because every switch between threads touches it.
struct Thread {
    Fiber* fiber = nullptr;      ///< null before the thread begins and after it ends
    std::uint64_t value = 0;     ///< argument of the thread's warp-wide function; later its result
    const void* site = nullptr;  ///< return address of the waiting call
    std::uint16_t argument = 0;  ///< of a shuffle: lane or distance in the low byte, width above
    std::uint16_t index = 0;     ///< index of the thread in its block
    std::uint8_t kind = 0;       ///< kind of the barrier or warp-wide function in which the thread waits
};

/// The flags that a thread reads repeatedly.
struct Polls {
    std::array<std::uintptr_t, 4> flags{};  ///< addresses of the last flags read, newest first
    std::uint64_t value = 0;                ///< value of the newest flag
    std::uint8_t bytes = 0;                 ///< size of the newest flag in bytes; 0 while the thread sleeps
    std::uint8_t count = 0;  ///< reads since the thread last changed a flag or let other threads run
};

/// The accesses of other threads that flags and fences order before this thread's next access; see order.h.
/// Barriers and warp-wide functions order further accesses.
struct Order {
    Knowledge known;             ///< acquired knowledge; its accesses precede the thread's next accesses
    Knowledge pending;           ///< knowledge read from flags; the next fence or barrier acquires it
    Knowledge published_device;  ///< what the thread's flags publish to all blocks; set by __threadfence()
    Knowledge published_block;   ///< what the thread's flags publish within the block; set by every fence
    Place deferred;              ///< flag of a volatile read that has begun
};

/// An asynchronous copy to shared memory for which the thread has not yet waited.
struct PendingCopy {
    void* to;
    const void* from;
    std::uint32_t bytes;
    std::uint32_t group;
};

/// The asynchronous copies for which one thread has not yet waited.
struct PendingCopies {
    std::vector<PendingCopy> copies;  ///< oldest first
    std::uint32_t group = 0;          ///< number of the group that the next copy will join
};

/// Lanes that wait for each other in a warp-wide function.
struct Meeting {
    std::uint32_t mask = 0;
    std::uint32_t arrived = 0;
    std::uint32_t kind = 0;
};

using LaneTimes = std::array<std::array<std::uint32_t, kWarpLanes>, kWarpLanes>;

/// A warp: 32 threads of a block, or fewer in the last warp.
struct Warp {
    std::uint32_t lanes = 0;  ///< mask of all lanes
    std::uint32_t live = 0;   ///< mask of lanes that have not returned
    std::uint32_t runnable = 0;
    std::uint32_t spinning = 0;  ///< lanes that pause until their flag changes
    std::uint32_t at_barrier = 0;
    std::uint32_t phase = 0;   ///< Block::time of the last event that orders accesses of the warp's lanes
    std::uint32_t synced = 0;  ///< accesses made before this time are ordered for all lanes
    /// [later lane][earlier lane]: the earlier lane's accesses before this time are ordered for the later
    /// lane. Allocated at the first __syncwarp() of only some of the lanes.
    std::unique_ptr<LaneTimes> partly_synced;
    std::uint32_t num_meetings = 0;
    std::array<Meeting, kWarpLanes> meetings{};
};

/// A call of a barrier function in the source text, at which the threads of a block arrive.
struct BarrierCall {
    unsigned kind = 0;
    unsigned statement = 0;  ///< number of the call in the text; all of the compiler's copies keep it

    bool operator==(const BarrierCall&) const = default;
};

/// A resident block. Its clock `time` advances at barriers, warp synchronisations and releases.
struct Block {
    bool active = false;
    std::uint64_t index = 0;   ///< index in the grid, x fastest
    std::uint32_t number = 0;  ///< block number, unique over all launches of the process
    std::array<unsigned, 3> place{};
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::uint32_t runnable_warps = 0;
    unsigned live = 0;
    unsigned spinning = 0;
    unsigned arrived = 0;  ///< threads that wait at the block's barrier
    unsigned votes = 0;
    BarrierCall barrier;
    unsigned barrier_result = 0;
    std::uint32_t time = 0;
    std::uint32_t barrier_time = 0;
    bool uses_order = false;   ///< true if any thread has used a fence or a flag
    bool has_flagged = false;  ///< true if any thread has changed a flag
    Knowledge known;           ///< knowledge of all threads of the block since the last barrier
    Knowledge published;  ///< knowledge from fences before the last barrier; the block's flags publish it
    std::vector<Order> order;           ///< one per thread
    std::vector<Polls> polls;           ///< one per thread; empty until a thread reads a flag
    std::vector<PendingCopies> copies;  ///< one per thread; empty until a thread starts a copy
    /// The block's shared memory while the OS thread's own copy serves another block.
    std::vector<std::byte> shared_image;
    std::unique_ptr<Shadow> shared_shadow;
    std::size_t shadowed_bytes = 0;
};

/// True if the block has live threads, and all of them wait for other blocks of the cluster.
bool waits_for_cluster(const Block& block);

/// A range of bytes of shared memory, as offsets in the module's thread-local memory.
struct SharedRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The state that the OS threads of a launch share. A block without a cluster counts as a cluster of one
/// block.
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
    std::uint32_t first_number = 0;  ///< Block::number of the block whose index is 0
    unsigned num_workers = 1;
    unsigned cluster_blocks = 1;  ///< blocks in a cluster; they are resident together, on one OS thread
    bool shadow = false;
    std::vector<std::uint32_t> order;  ///< clusters in the order of their start; empty if it is ascending
    std::vector<SharedRange> shared_ranges;
    /// One mask for each word of shared memory. It has a bit for each of the word's four bytes that the
    /// launch uses.
    std::vector<std::uint8_t> shared_words;

    std::atomic<std::uint64_t> next_cluster{0};
    std::atomic<std::uint64_t> started_blocks{0};
    std::atomic<bool> failed{false};
    std::mutex failure_mutex;
    std::optional<SimtError> failure;
    std::exception_ptr error;                 ///< an exception of the executor itself
    const std::atomic<bool>* stop = nullptr;  ///< the caller's stop_flag()

    /// Progress of one OS thread, on a cache line of its own.
    struct alignas(64) Progress {
        std::atomic<std::uint64_t> made{0};
        /// Sum of all `made`, plus 1, when this OS thread found no progress; 0 while it makes progress.
        std::atomic<std::uint64_t> stuck_at{0};
    };
    std::vector<Progress> progress;         ///< counts every event that may let a waiting thread continue
    std::vector<Progress> strong_progress;  ///< counts only changed flags and ended threads
};

/// Stops the launch because of a fault. Keeps the fault if it is the launch's first.
void report(Launch& launch, Fault fault, const std::string& message);

}  // namespace segfold::simt
