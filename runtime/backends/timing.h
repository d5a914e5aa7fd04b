#pragma once
// The interface of measuring: plans that stay loaded, launched again and again, and a back end's clock.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/data/workload.h"

namespace segfold {

/// A stage's text for a problem, and the stage's name for messages.
struct PlanText {
    const Emitted& emitted;
    std::string stage;
};

/// Starts work of a back end; Timing says when it has ended.
using TimedLaunch = std::function<void()>;

/// Launches before the timed ones.
inline constexpr int kWarmups = 3;
inline constexpr double kMillisecondsPerSecond = 1e3;

/// Facts of a plan's kernel, by compiler and device.
struct KernelUse {
    std::string kernel;
    std::int64_t grid = 0;
    int block_threads = 0;
    int registers = 0;
    int spill_bytes = 0;  ///< stored and loaded, of a thread
    int local_bytes = 0;  ///< of a thread's stack: spills and arrays that are indexed
    std::int64_t shared_bytes = 0;
    int resident_blocks = 0;  ///< that one multiprocessor holds at a time
    double occupancy = 0;     ///< threads that a multiprocessor holds, over those it could
};

/// The fastest that nothing but reading has run.
struct ReadCeiling {
    double bytes_per_second = 0;
    std::string text;  ///< "4224 blocks of 256, 4 loads in flight, 1024 MiB"
};

/// Compiler and driver of a device, for records.
struct TimingFacts {
    std::string driver;    ///< "13.0"; empty for a host
    std::string compiler;  ///< "NVRTC 13.0"
};

/// Which places of the result arrays hold results; peers by key leave out segments without an element.
struct Filled {
    bool is_by_key = false;     ///< segments with an element alone
    bool is_compacted = false;  ///< the i-th of them at place i
    std::int64_t num_runs = 0;  ///< by key: segments with an element
    /// By key: i32 [num_runs], the segment of each run, where the back end's kernels read it; 0: every
    /// segment has an element.
    std::uint64_t places = 0;
    std::function<std::vector<std::int32_t>()> places_on_host = {};  ///< the same, copied when asked for
};

/// Differences between values and kept ones.
struct Difference {
    unsigned long long bits = 0;       ///< values that differ in some bit
    unsigned long long beyond = 0;     ///< values that differ by more than the tolerance
    unsigned long long first = ~0ull;  ///< the first segment with one of the latter
};

/// Arrays of an operator's parameters where plans read them; shared by workloads.
class LoadedArrays {
public:
    virtual ~LoadedArrays() = default;
    /// Of all arrays.
    [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// The same arrays without their memory.
[[nodiscard]] std::vector<Array> borrowed(std::span<const Array> arrays);

/// A workload with arrays and results where plans use them.
class PlacedWorkload {
public:
    virtual ~PlacedWorkload() = default;
    [[nodiscard]] virtual const Workload& workload() const = 0;
    /// Fills the results with poison that shows values which a plan does not write. The byte changes each
    /// time, so that two plans with the same omission differ. Bools become false.
    virtual void poison_results(std::uint8_t poison) = 0;
    /// The results on the host. Throws InputError where a plan has read outside of a checked table since the
    /// workload was placed.
    [[nodiscard]] virtual Results results() const = 0;
    /// Keeps a copy of the results beside them.
    virtual void keep_results() = 0;
    /// The results that were kept, on the host.
    [[nodiscard]] virtual Results kept_results() const = 0;
    /// Compares a result field with the kept one, without a copy to the host. Floating-point values within
    /// `tolerance`, over the larger of both and 1, count for `bits` alone.
    [[nodiscard]] virtual Difference difference(std::size_t field, double tolerance,
                                                const Filled& filled) = 0;
};

/// A plan that is compiled, loaded, and bound to a placed workload.
class TimedPlan {
public:
    virtual ~TimedPlan() = default;
    /// Starts the plan once. Throws DeviceError.
    virtual void launch() = 0;
    [[nodiscard]] virtual double compile_seconds() const = 0;
    /// In the order of their launches; empty if no compiler reports registers.
    [[nodiscard]] virtual std::vector<KernelUse> kernels() const { return {}; }
};

/// Times the plans of one back end: its memory, its compiler, its clock. For one thread at a time.
///
/// Objects that it makes must not outlive it. Times are milliseconds.
class Timing {
public:
    virtual ~Timing() = default;

    [[nodiscard]] virtual TimingFacts facts() const = 0;
    /// Of the memory that workloads are placed in.
    [[nodiscard]] virtual std::int64_t memory_bytes() const = 0;
    [[nodiscard]] virtual std::int64_t free_bytes() const = 0;

    /// Copies arrays to the memory that plans read. A host keeps them, so memory that they borrow must
    /// outlive the result.
    [[nodiscard]] virtual std::shared_ptr<const LoadedArrays> load(std::vector<Array> arrays) = 0;
    /// The same arrays in memory of their own.
    [[nodiscard]] virtual std::shared_ptr<const LoadedArrays> copy(const LoadedArrays& arrays) = 0;
    /// `workload` must outlive the result. Columns may be longer than the workload. Its own `arrays` only
    /// serve to name an element that reads past a checked table's end. The caller answers for empty segments.
    /// Throws DeviceError if memory does not suffice.
    [[nodiscard]] virtual std::unique_ptr<PlacedWorkload> place(
        const Workload& workload, std::shared_ptr<const LoadedArrays> arrays) = 0;

    /// Seconds that compiling takes or took. Throws DeviceError with the compiler's message.
    virtual double compile(const PlanText& plan) = 0;
    /// Compiles several side by side; whoever needs one that does not compile is told.
    virtual void compile_each(std::span<const PlanText> plans) = 0;
    /// Announces texts that will soon be compiled, so that it is done meanwhile. They replace those announced
    /// before.
    virtual void expect(std::span<const PlanText> plans) { (void)plans; }
    /// Throws DeviceError for a text that does not compile or cannot be loaded.
    [[nodiscard]] virtual std::unique_ptr<TimedPlan> prepare(PlacedWorkload& placed,
                                                             const PlanText& plan) = 0;

    /// The best rate of several ways to read memory larger than all caches.
    [[nodiscard]] virtual ReadCeiling read_ceiling() = 0;
    /// True where data of so many bytes would stay in a cache from one run to the next, wholly or for a good
    /// part.
    [[nodiscard]] virtual bool fits_cache(std::int64_t bytes) const = 0;
    /// Starts a read of so many bytes that are nobody's data.
    virtual void read(std::size_t bytes) = 0;

    /// `repeats` launches, one after the other, after `warmups` that are not counted. With `flush` the cache
    /// is filled with other, clean lines before each one, outside of the time.
    [[nodiscard]] virtual std::vector<double> time(const TimedLaunch& launch, int warmups, int repeats,
                                                   bool flush) = 0;
    /// All launches by turns (A B A B), `samples` times after `dropped` turns that are not counted.
    [[nodiscard]] virtual std::vector<std::vector<double>> time_by_turns(
        std::span<const TimedLaunch> launches, int dropped, int samples) = 0;
    /// One launch, the first one included.
    [[nodiscard]] double once(const TimedLaunch& launch) { return time(launch, 0, 1, false).front(); }
    /// `repeats` launches by the host's clock, each from before the launch until the host has waited for its
    /// end, with nothing queued before it.
    [[nodiscard]] std::vector<double> wall_milliseconds(const TimedLaunch& launch, int warmups, int repeats,
                                                        bool flush);
    /// Microseconds that the host is busy with one of `launches` launches in a row, the median of five
    /// rounds.
    [[nodiscard]] double host_microseconds(const TimedLaunch& launch, int launches);

    /// Waits for the launches. Throws DeviceError that names the failed call.
    virtual void wait() = 0;
    /// Waits for all work; throws DeviceError where the device takes no more from this process.
    virtual void synchronize() = 0;
    /// True where a launch returns before it is done.
    [[nodiscard]] virtual bool is_asynchronous() const = 0;

private:
    /// Starts a kernel that fills the cache with other, clean lines.
    virtual void fill_cache() = 0;
};

}  // namespace segfold
