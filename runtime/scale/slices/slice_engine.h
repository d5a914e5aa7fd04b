#pragma once
// The memory and the queues of a device, for a stream of slices.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"

namespace segfold {

class Backend;

/// Two queues of a device, one for copies and one for kernels, and memory for them.
///
/// Calls queue work and return at once; only wait() waits. The host never reads device addresses. Several
/// threads may call copy_in(), record() and wait() at the same time. The other functions must be called by
/// one thread.
class SliceEngine {
public:
    /// A queue. The device executes the work of one lane in order.
    enum class Lane : std::uint8_t { copies, work };

    /// Memory of the host or of the device. The object owns the memory.
    class Memory {
    public:
        virtual ~Memory() = default;
        [[nodiscard]] virtual std::byte* address() const = 0;
        [[nodiscard]] virtual std::size_t bytes() const = 0;
    };
    /// A point in a lane, like a CUDA event. The device reaches it after all work that was queued before it.
    class Mark {
    public:
        virtual ~Mark() = default;
    };
    /// A launch of a plan. Its arrays have device addresses.
    struct Launch {
        const Workload& workload;  ///< the arrays of its parameters are on the device
        const PlanChoice& plan;
        std::span<const std::uint64_t> inputs;
        std::span<const std::uint64_t> segments;  ///< see BoundPlan::bind_segments()
        std::span<const std::uint64_t> results;
        /// Address of an array with one word for each parameter; see BoundPlan::bind_outside().
        std::uint64_t outside = 0;
    };

    SliceEngine() = default;
    SliceEngine(const SliceEngine&) = delete;
    SliceEngine& operator=(const SliceEngine&) = delete;
    virtual ~SliceEngine() = default;

    [[nodiscard]] virtual std::unique_ptr<Memory> device_memory(std::size_t bytes) = 0;
    /// Allocates page-locked memory, or pageable memory if the system has no more page-locked memory.
    [[nodiscard]] virtual std::unique_ptr<Memory> host_memory(std::size_t bytes) = 0;
    /// True if these bytes of the host are page-locked, so the device copies them without the CPU.
    [[nodiscard]] virtual bool is_page_locked(std::span<const std::byte> host) const = 0;

    [[nodiscard]] virtual std::unique_ptr<Mark> new_mark() = 0;
    virtual void record(Mark& mark, Lane lane) = 0;
    /// Makes work that is queued in `lane` from now on wait until `mark` is reached.
    virtual void order_after(Lane lane, const Mark& mark) = 0;
    /// Waits until `mark` is reached. Returns at once if `mark` was never recorded. Throws DeviceError if
    /// work has failed.
    virtual void wait(const Mark& mark) = 0;
    /// Returns the seconds from mark `from` to the later mark `to`. The device must have reached both marks.
    [[nodiscard]] virtual double seconds(const Mark& from, const Mark& to) = 0;

    virtual void copy_in(std::byte* device, std::span<const std::byte> host, Lane lane) = 0;
    virtual void copy_out(std::span<std::byte> host, const std::byte* device) = 0;
    virtual void zero(std::byte* device, std::size_t bytes) = 0;
    /// Compiles and loads plans, all at the same time. Returns the seconds of compilation, or nothing if no
    /// plan had to be compiled. Plans must outlive the engine.
    virtual std::optional<double> prepare(std::span<const PlanChoice* const> plans) = 0;
    /// Queues the kernels of a prepared plan in Lane::work.
    virtual void launch(const Launch& launch) = 0;
};

/// Returns an engine for a back end's GPU; null if the back end uses no GPU. The back end must outlive the
/// engine.
[[nodiscard]] std::unique_ptr<SliceEngine> cuda_engine(Backend& backend);

}  // namespace segfold
