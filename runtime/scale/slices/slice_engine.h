#pragma once
// A device's memory and queues for a stream of slices.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"

namespace segfold {

class Backend;

/// Two queues of a device, one for copies and one for kernels, and their memory.
///
/// Calls queue work and return at once; only wait() waits. The host never reads at addresses of the device.
/// Several threads may call copy_in(), record() and wait() at the same time. The other functions must be
/// called by one thread.
class SliceEngine {
public:
    /// A queue: the device does the work of one lane in order.
    enum class Lane : std::uint8_t { copies, work };

    /// Memory of the host or of the device, which the object owns.
    class Memory {
    public:
        virtual ~Memory() = default;
        [[nodiscard]] virtual std::byte* address() const = 0;
        [[nodiscard]] virtual std::size_t bytes() const = 0;
    };
    /// A moment in a lane.
    class Mark {
    public:
        virtual ~Mark() = default;
    };
    /// A plan and the addresses of its arrays on the device.
    struct Launch {
        const Workload& workload;  ///< the arrays of its parameters lie on the device
        const PlanChoice& plan;
        std::span<const std::uint64_t> inputs;
        std::span<const std::uint64_t> segments;  ///< as BoundPlan::bind_segments() takes them
        std::span<const std::uint64_t> results;
        /// Address of one word for each parameter, as BoundPlan::bind_outside() takes it.
        std::uint64_t outside = 0;
    };

    SliceEngine() = default;
    SliceEngine(const SliceEngine&) = delete;
    SliceEngine& operator=(const SliceEngine&) = delete;
    virtual ~SliceEngine() = default;

    [[nodiscard]] virtual std::unique_ptr<Memory> device_memory(std::size_t bytes) = 0;
    /// Page-locked memory, or pageable memory if the system has no more page-locked memory.
    [[nodiscard]] virtual std::unique_ptr<Memory> host_memory(std::size_t bytes) = 0;
    /// True if the device copies these bytes of the host without the host's help.
    [[nodiscard]] virtual bool is_page_locked(std::span<const std::byte> host) const = 0;

    [[nodiscard]] virtual std::unique_ptr<Mark> new_mark() = 0;
    virtual void record(Mark& mark, Lane lane) = 0;
    /// Work that is queued in `lane` from now on waits until `mark` is reached.
    virtual void order_after(Lane lane, const Mark& mark) = 0;
    /// Waits until `mark` is reached; returns at once if it was never recorded. Throws DeviceError if work
    /// has failed.
    virtual void wait(const Mark& mark) = 0;
    /// Seconds between two marks that were reached; `from` is the earlier one.
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

/// The engine of a back end's GPU; null if it uses none. The back end must outlive it.
[[nodiscard]] std::unique_ptr<SliceEngine> cuda_engine(Backend& backend);

}  // namespace segfold
