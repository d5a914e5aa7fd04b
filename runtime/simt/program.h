#pragma once
// Runs emitted CUDA source (a text) on the CPU. The system's C++ compiler compiles it, CUDA threads are
// fibers, and every memory access is checked.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dsl/error.h"
#include "runtime/simt/execution/memory.h"

namespace segfold {
class LineMap;
}

namespace segfold::simt {

/// The rule that chooses the thread of a block that continues when the running thread must wait.
enum class Schedule {
    ascending,    ///< the thread with the lowest index
    descending,   ///< the thread with the highest index
    sticky_warp,  ///< a random lane of the same warp, sometimes of another random warp
    priority,  ///< the warp of highest random priority; priorities change at random steps (Burckhardt 2010)
    /// The lowest block goes first. A block that has changed a flag (a word that is atomic or volatile) waits
    /// for all other blocks that can continue. When all blocks have changed a flag, the highest block goes
    /// first.
    overtaking
};

/// The order in which the blocks of a grid start.
enum class BlockOrder { ascending, descending, random };

std::string_view name(Schedule schedule);
std::string_view name(BlockOrder order);

/// Options of a launch. If `os_threads` is 1, equal options give equal interleavings.
struct Options {
    std::uint64_t seed = 1;
    Schedule schedule = Schedule::sticky_warp;
    BlockOrder block_order = BlockOrder::ascending;
    bool shadow_check = true;            ///< true: races and reads of unwritten shared memory are faults
    bool shuffles_order_memory = false;  ///< true: shuffles and votes order memory as __syncwarp() does
    /// If true, a shuffle that reads a lane outside of the mask is a fault. If false, it returns a poison
    /// value.
    bool shuffles_read_mask_only = true;
    /// Most processor time, in seconds, that a thread may compute without reading memory or waiting; 0 for no
    /// limit.
    double endless_seconds = 10;
    int resident_blocks = 4;  ///< most blocks resident at a time, on all OS threads together
    int os_threads = 0;       ///< 0 for one per core; never more than `resident_blocks`
    std::shared_ptr<const LineMap> lines = {};  ///< lines of an emitted text, for messages
};

/// Returns options whose schedule and block order are chosen by the seed. Neighbouring seeds give different
/// schedules and orders.
Options options_from_seed(std::uint64_t seed);

/// Grid and block shape of a launch.
struct Dimensions {
    unsigned grid_x = 1, grid_y = 1, grid_z = 1;
    unsigned block_x = 1, block_y = 1, block_z = 1;
    unsigned dynamic_shared_bytes = 0;
};

/// Options for the system's compiler.
struct CompileOptions {
    bool shadow_check = true;          ///< false: no access is checked, and kernels run several times as fast
    bool undefined_sanitizer = false;  ///< also reports signed overflow, wide shifts, lossy float conversions
    int optimisation = 1;              ///< the digit after -O
    std::string compiler = {};         ///< path; if empty, $CXX, else the first of g++, c++, clang++ on PATH
    std::shared_ptr<const LineMap> lines = {};  ///< lines of an emitted text, for the compiler's messages
};

/// Kinds of faults that a launch can find.
enum class Fault {
    race,
    out_of_bounds,
    misaligned,
    uninitialised,
    barrier_divergence,
    warp_mask,
    no_progress,
    undefined_behaviour,
    trap,
    shared_memory
};

/// A fault of a kernel. The message names the kernel, block, threads, source line and memory, and tells how
/// to replay the launch.
class SimtError : public DeviceError {
public:
    SimtError(Fault fault, const std::string& message) : DeviceError(message), fault_(fault) {}
    [[nodiscard]] Fault fault() const { return fault_; }

private:
    Fault fault_;
};

/// Counts of a launch that ended without a fault.
struct LaunchStatistics {
    std::uint64_t fiber_switches = 0;  ///< number of switches between stacks, on all OS threads
    std::uint64_t thread_steps = 0;    ///< number of times that a CUDA thread began or resumed after a wait
    double seconds = 0;
};

class Module;

/// A compiled text. Copies share the code. Several OS threads may launch a program at the same time.
class Program {
public:
    /// Compiles `source`. Functions `extern "C" __global__` that `kernels` names can then be launched.
    ///
    /// Each text is compiled once per process and set of options. Several OS threads may call this function.
    /// If the text does not compile, throws DeviceError with the compiler's log and the path of the saved
    /// source.
    static Program compile(const std::string& source, std::span<const std::string> kernels,
                           const CompileOptions& options = {});

    /// Runs one kernel to its end.
    ///
    ///   arguments  [number of the kernel's parameters]   each points at the parameter's value
    ///
    /// Throws SimtError if the kernel has a fault, InputError if the kernel does not exist or the shape is
    /// not possible.
    LaunchStatistics launch(const std::string& kernel, const Dimensions& dimensions,
                            std::span<void* const> arguments, const Options& options = {}) const;

private:
    explicit Program(std::shared_ptr<const Module> module) : module_(std::move(module)) {}
    std::shared_ptr<const Module> module_;
};

}  // namespace segfold::simt
