#pragma once
// A device's memory and queues, as far as a stream of slices needs them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"

namespace segfold {

namespace cuda {
class CompileCache;
class Context;
}  // namespace cuda

/// Two queues of a device, copies beside work, and the memory that they use.
///
/// Calls queue and return; wait() alone waits. Addresses of the device are numbers to the host: it never
/// reads there. copy_in(), record() and wait() may be called by several threads at a time, the rest by one.
class SliceEngine {
public:
    /// What is queued in one lane is done in order.
    enum class Lane : std::uint8_t { copies, work };

    /// Bytes of the host or of the device, while the object lives.
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
        const Workload& workload;  ///< its columns and tables are addresses of the device, like `inputs`
        const PlanChoice& plan;
        std::span<const std::uint64_t> inputs;
        std::span<const std::uint64_t> segments;  ///< as BoundPlan::bind_segments() takes them
        std::span<const std::uint64_t> results;
        std::uint64_t outside = 0;  ///< a word for each parameter, as BoundPlan::bind_inputs() takes it
    };

    SliceEngine() = default;
    SliceEngine(const SliceEngine&) = delete;
    SliceEngine& operator=(const SliceEngine&) = delete;
    virtual ~SliceEngine() = default;

    [[nodiscard]] virtual std::unique_ptr<Memory> device_memory(std::size_t bytes) = 0;
    /// Page-locked, where the system gives such memory.
    [[nodiscard]] virtual std::unique_ptr<Memory> host_memory(std::size_t bytes) = 0;
    /// Whether the device copies these bytes of the host by itself, beside everything else.
    [[nodiscard]] virtual bool is_page_locked(std::span<const std::byte> host) const = 0;

    [[nodiscard]] virtual std::unique_ptr<Mark> new_mark() = 0;
    virtual void record(Mark& mark, Lane lane) = 0;
    /// What is queued from now on in `lane` comes after the moment.
    virtual void order_after(Lane lane, const Mark& mark) = 0;
    /// Waits until the moment has come; not at all for a mark that was never recorded. Throws DeviceError for
    /// work that has failed.
    virtual void wait(const Mark& mark) = 0;
    /// From one moment to a later one, which has come.
    [[nodiscard]] virtual double seconds(const Mark& from, const Mark& to) = 0;

    virtual void copy_in(std::byte* device, std::span<const std::byte> host, Lane lane) = 0;
    virtual void copy_out(std::span<std::byte> host, const std::byte* device) = 0;
    virtual void zero(std::byte* device, std::size_t bytes) = 0;
    /// Compiles plans and loads them, all at the same time. Gives the seconds of the compiler where there was
    /// something to compile. Plans must outlive the engine.
    virtual std::optional<double> prepare(std::span<const PlanChoice* const> plans) = 0;
    /// Queues kernels in the lane of work, of a plan that was prepared.
    virtual void launch(const Launch& launch) = 0;
};

/// That of a GPU; `programs` are compiled ones, and must outlive it.
[[nodiscard]] std::unique_ptr<SliceEngine> cuda_engine(const cuda::Context& context,
                                                       cuda::CompileCache& programs);

}  // namespace segfold
