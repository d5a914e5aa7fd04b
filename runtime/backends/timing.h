#pragma once
// The interface for measurements. Plans stay loaded for many launches, and the back end's clock times them.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/data/workload.h"

namespace segfold {

/// A function that starts work on a back end. Timing can tell when the work has ended.
using TimedLaunch = std::function<void()>;

/// Default number of untimed launches before the timed launches.
inline constexpr int kWarmups = 3;
inline constexpr double kMillisecondsPerSecond = 1e3;

/// Resources that a plan's kernel uses, as the compiler and device report them.
struct KernelUse {
    std::string kernel;
    std::int64_t grid = 0;
    int block_threads = 0;
    int registers = 0;
    int spill_bytes = 0;  ///< bytes per thread that are spilled and reloaded
    int local_bytes = 0;  ///< bytes of a thread's stack: spills and indexed arrays
    std::int64_t shared_bytes = 0;
    int resident_blocks = 0;  ///< blocks resident on one multiprocessor at a time
    double occupancy = 0;     ///< resident threads of a multiprocessor, as a share of the most possible
};

/// The highest measured read rate of a kernel.
struct ReadCeiling {
    double bytes_per_second = 0;
    std::string text;  ///< such as "4224 blocks of 256, 4 loads in flight, 1024 MiB"
};

/// Driver and compiler of a device, for tuning records.
struct TimingFacts {
    std::string driver;    ///< such as "13.0"; empty for a host
    std::string compiler;  ///< such as "NVRTC 13.0"
};

/// Tells which entries of the result arrays a plan or peer fills. Peers that fold by key skip empty segments.
struct Filled {
    bool is_by_key = false;     ///< true if only nonempty segments are filled
    bool is_compacted = false;  ///< true if the i-th filled segment is entry i
    std::int64_t num_runs = 0;  ///< number of nonempty segments, if is_by_key
    /// If is_by_key, the address of an i32 array [num_runs] with the segment of each filled entry. The back
    /// end's kernels can read it. 0 if no segment is empty.
    std::uint64_t places = 0;
    std::function<std::vector<std::int32_t>()> places_on_host = {};  ///< copies `places` to the host
};

/// Counts of differences between a result field and its kept values.
struct Difference {
    unsigned long long bits = 0;       ///< number of values that differ in some bit
    unsigned long long beyond = 0;     ///< number of values that differ by more than the tolerance
    unsigned long long first = ~0ull;  ///< first segment that is counted in `beyond`
};

/// Arrays of an operator's parameters in memory that plans can read. Several workloads may share them.
class LoadedArrays {
public:
    virtual ~LoadedArrays() = default;
    /// Total size of all arrays in bytes.
    [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Returns arrays that borrow the memory of `arrays`.
[[nodiscard]] std::vector<Array> borrowed(std::span<const Array> arrays);

/// A workload whose arrays and results are in memory that plans can use.
class PlacedWorkload {
public:
    virtual ~PlacedWorkload() = default;
    [[nodiscard]] virtual const Workload& workload() const = 0;
    /// Fills the results with the byte `poison`; bools become false. If two plans run after different bytes,
    /// a comparison shows the entries that a plan did not write.
    virtual void poison_results(std::uint8_t poison) = 0;
    /// Returns the results in host memory. Throws InputError if a plan has read outside of a checked table
    /// since the workload was placed.
    [[nodiscard]] virtual Results results() const = 0;
    /// Keeps a copy of the results in the same memory, for difference().
    virtual void keep_results() = 0;
    /// Returns the kept results in host memory.
    [[nodiscard]] virtual Results kept_results() const = 0;
    /// Compares a result field with the kept values, without copying to the host. A floating-point difference
    /// counts only in Difference::bits if it is at most `tolerance` times the larger magnitude, or at most
    /// `tolerance` if both magnitudes are below 1.
    [[nodiscard]] virtual Difference difference(std::size_t field, double tolerance,
                                                const Filled& filled) = 0;
};

/// A plan that is compiled, loaded, and bound to a placed workload.
struct TimedPlan {
    TimedLaunch launch;  ///< starts the plan once; throws DeviceError if a kernel cannot be launched
    double compile_seconds = 0;
    std::vector<KernelUse> kernels = {};  ///< in launch order; empty if no compiler reports registers
};

/// Measures plans of one back end, with the back end's memory, compiler and clock.
///
/// Only one thread at a time may use the object. It must outlive the objects that it makes. Times are in
/// milliseconds.
class Timing {
public:
    virtual ~Timing() = default;

    [[nodiscard]] virtual TimingFacts facts() const = 0;
    /// Total size in bytes of the memory for workloads.
    [[nodiscard]] virtual std::int64_t memory_bytes() const = 0;
    [[nodiscard]] virtual std::int64_t free_bytes() const = 0;

    /// Moves arrays to memory that plans can read. On a host the arrays stay in place, so borrowed memory
    /// must outlive the result.
    [[nodiscard]] virtual std::shared_ptr<const LoadedArrays> load(std::vector<Array> arrays) = 0;
    /// Returns a copy of the arrays in memory of its own.
    [[nodiscard]] virtual std::shared_ptr<const LoadedArrays> copy(const LoadedArrays& arrays) = 0;
    /// Places a workload, which must outlive the result, on the arrays `arrays`. Columns may be longer than
    /// the workload.
    ///
    /// `workload.arrays` serve only to find an element that reads past the end of a checked table. The caller
    /// must refuse empty segments if the operator has no result for them. Throws DeviceError if memory does
    /// not suffice.
    [[nodiscard]] virtual std::unique_ptr<PlacedWorkload> place(
        const Workload& workload, std::shared_ptr<const LoadedArrays> arrays) = 0;

    /// Compiles a text if it is not compiled yet. Returns the seconds that its compilation took. Throws
    /// DeviceError with the compiler's message.
    virtual double compile(const Emitted& text) = 0;
    /// Compiles several texts in parallel. If a text does not compile, prepare() reports the error later.
    virtual void compile_each(std::span<const Emitted> texts) = 0;
    /// Announces texts that will probably be needed soon, so that they can be compiled in the background.
    /// Replaces earlier announcements.
    virtual void expect(std::span<const Emitted> texts) { (void)texts; }
    /// Loads a text and binds it to a placed workload. Throws DeviceError if the text does not compile or
    /// cannot be loaded.
    [[nodiscard]] virtual TimedPlan prepare(PlacedWorkload& placed, const Emitted& text) = 0;

    /// Measures the read rate on more memory than all caches hold. Returns the rate of the fastest of several
    /// kernels.
    [[nodiscard]] virtual ReadCeiling read_ceiling() = 0;
    /// True if a large part of `bytes` bytes would stay in a cache from one run to the next.
    [[nodiscard]] virtual bool fits_cache(std::int64_t bytes) const = 0;
    /// Starts a kernel that reads `bytes` bytes of memory. No plan uses this memory.
    virtual void read(std::size_t bytes) = 0;

    /// Times `repeats` successive launches after `warmups` untimed launches. If `flush` is true, untimed work
    /// before each launch fills the cache with other, clean lines.
    [[nodiscard]] virtual std::vector<double> time(const TimedLaunch& launch, int warmups, int repeats,
                                                   bool flush) = 0;
    /// Times several launches in turns (A B A B) in `samples` rounds, after `dropped` untimed rounds.
    [[nodiscard]] virtual std::vector<std::vector<double>> time_by_turns(
        std::span<const TimedLaunch> launches, int dropped, int samples) = 0;
    /// Times one launch without warm-up.
    [[nodiscard]] double once(const TimedLaunch& launch) { return time(launch, 0, 1, false).front(); }
    /// Times `repeats` launches with the host's clock, each on an idle device. A time lasts from the call of
    /// the launch until the host has waited for its end.
    [[nodiscard]] std::vector<double> wall_milliseconds(const TimedLaunch& launch, int warmups, int repeats,
                                                        bool flush);
    /// Returns the microseconds of host time per launch. It is the median of five rounds of `launches`
    /// successive launches each.
    [[nodiscard]] double host_microseconds(const TimedLaunch& launch, int launches);

    /// Waits for the launched work. Throws DeviceError that names the work that failed.
    virtual void wait() = 0;
    /// Waits for all work. Throws DeviceError if the device accepts no more work from this process.
    virtual void synchronize() = 0;
    /// True if a launch returns before its work is done.
    [[nodiscard]] virtual bool is_asynchronous() const = 0;

private:
    /// Starts work that fills the cache with other, clean lines.
    virtual void fill_cache() = 0;
};

}  // namespace segfold
