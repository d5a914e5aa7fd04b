#include <future>
#include <map>
#include <set>
#include <vector>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/driver/pinned_buffer.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/scale/slices/slice_engine.h"

namespace segfold {
namespace {

constexpr int kPointerMemoryType = 2;
constexpr unsigned kHostMemory = 1;

struct EventMark : SliceEngine::Mark {
    explicit EventMark(const cuda::Context& context) : event(context, true) {}
    cuda::Event event;
};

class DeviceMemory : public SliceEngine::Memory {
public:
    DeviceMemory(const cuda::Context& context, std::size_t bytes) : buffer_(context, bytes) {}
    [[nodiscard]] std::byte* address() const override
    {
        return reinterpret_cast<std::byte*>(buffer_.address());
    }
    [[nodiscard]] std::size_t bytes() const override { return buffer_.bytes(); }

private:
    cuda::DeviceBuffer buffer_;
};

class HostMemory : public SliceEngine::Memory {
public:
    HostMemory(const cuda::Context& context, std::size_t bytes)
    {
        try {
            pinned_ = cuda::PinnedBuffer(context, bytes);
        } catch (const DeviceError&) {
            pageable_.resize(bytes);  // the system has no more page-locked memory
        }
    }
    [[nodiscard]] std::byte* address() const override { return bytes_of(*this).data(); }
    [[nodiscard]] std::size_t bytes() const override { return bytes_of(*this).size(); }

private:
    static std::span<std::byte> bytes_of(const HostMemory& memory)
    {
        auto& mutable_memory = const_cast<HostMemory&>(memory);
        return memory.pageable_.empty() ? mutable_memory.pinned_.bytes()
                                        : std::span(mutable_memory.pageable_);
    }

    cuda::PinnedBuffer pinned_;
    std::vector<std::byte> pageable_;
};

class CudaEngine : public SliceEngine {
public:
    CudaEngine(const cuda::Context& context, cuda::CompileCache& compiled)
        : context_(context),
          compiled_(compiled),
          copies_(cuda::Stream::unordered(context)),
          work_(cuda::Stream::unordered(context))
    {}
    ~CudaEngine() override
    {
        for (auto* stream : {&copies_, &work_})  // wait: queued work uses memory that is freed here
            try {
                stream->synchronize();
            } catch (const DeviceError&) {
                // A failure has ended the context, so no work is left.
            }
    }

    std::unique_ptr<Memory> device_memory(std::size_t bytes) override
    {
        return std::make_unique<DeviceMemory>(context_, bytes);
    }
    std::unique_ptr<Memory> host_memory(std::size_t bytes) override
    {
        return std::make_unique<HostMemory>(context_, bytes);
    }
    [[nodiscard]] bool is_page_locked(std::span<const std::byte> host) const override
    {
        const auto& driver = cuda::driver();
        if (host.empty() || !driver.cuPointerGetAttribute)
            return host.empty();
        const cuda::CurrentContext current(context_);
        const auto is_locked = [&](const std::byte& byte) {
            unsigned type = 0;
            return driver.cuPointerGetAttribute(&type, kPointerMemoryType,
                                                reinterpret_cast<cuda::CUdeviceptr>(&byte)) ==
                       cuda::CUresult::success &&
                   type == kHostMemory;
        };
        return is_locked(host.front()) && is_locked(host.back());
    }

    std::unique_ptr<Mark> new_mark() override { return std::make_unique<EventMark>(context_); }
    void record(Mark& mark, Lane lane) override { static_cast<EventMark&>(mark).event.record(stream(lane)); }
    void order_after(Lane lane, const Mark& mark) override { stream(lane).wait(event_of(mark)); }
    void wait(const Mark& mark) override
    {
        const cuda::CurrentContext current(context_);
        const auto result = cuda::driver().cuEventSynchronize(event_of(mark).handle());
        if (result != cuda::CUresult::success)
            throw DeviceError("folding a slice failed on " + context_.info().name + ": " +
                              cuda::describe(result));
    }
    double seconds(const Mark& from, const Mark& to) override
    {
        return cuda::elapsed_milliseconds(event_of(from), event_of(to)) / 1e3;
    }

    void copy_in(std::byte* device, std::span<const std::byte> host, Lane lane) override
    {
        const cuda::CurrentContext current(context_);
        cuda::check(cuda::driver().cuMemcpyHtoDAsync(address(device), host.data(), host.size(),
                                                     stream(lane).handle()),
                    "cuMemcpyHtoDAsync");
    }
    void copy_out(std::span<std::byte> host, const std::byte* device) override
    {
        const cuda::CurrentContext current(context_);
        cuda::check(
            cuda::driver().cuMemcpyDtoHAsync(host.data(), address(device), host.size(), work_.handle()),
            "cuMemcpyDtoHAsync");
    }
    void zero(std::byte* device, std::size_t bytes) override
    {
        if (bytes == 0)
            return;
        const cuda::CurrentContext current(context_);
        cuda::check(cuda::driver().cuMemsetD8Async(address(device), 0, bytes, work_.handle()),
                    "cuMemsetD8Async");
    }

    std::optional<double> prepare(std::span<const PlanChoice* const> plans) override
    {
        using Text = std::shared_ptr<const cuda::LoadedText>;
        std::vector<std::pair<const PlanChoice*, std::future<Text>>> loading;
        for (const auto* plan : plans)
            if (!texts_.contains(plan))
                loading.emplace_back(plan, std::async(std::launch::async, [this, plan]() -> Text {
                                         return std::make_shared<const cuda::LoadedText>(
                                             context_, plan->emitted, &compiled_);
                                     }));
        std::optional<double> seconds;
        for (auto& [plan, future] : loading) {
            auto text = future.get();
            const auto& compiled = text->compiled();
            if (!compiled->is_from_disk && known_.insert(compiled).second)
                seconds = seconds.value_or(0) + compiled->seconds;
            texts_.try_emplace(plan, std::move(text));
        }
        return seconds;
    }

    void launch(const Launch& launch) override
    {
        std::size_t place = 0;
        cuda::Program program(
            texts_.at(&launch.plan), launch.workload.op, launch.plan.emitted,
            sizes_of(launch.workload.segments),
            [&](std::size_t bytes) { return lend_scratch(place++, bytes); }, work_.handle());
        auto& arguments = program.arguments();
        for (std::size_t i = 0; i < launch.inputs.size(); ++i)
            arguments.bind_input(i, launch.inputs[i],
                                 static_cast<std::int64_t>(launch.workload.arrays[i].length()));
        arguments.bind_outside(launch.outside);
        arguments.bind_segments(launch.segments);
        arguments.bind_results(launch.results);
        program.launch(work_.handle());
    }

private:
    [[nodiscard]] cuda::Stream& stream(Lane lane) { return lane == Lane::copies ? copies_ : work_; }
    static const cuda::Event& event_of(const Mark& mark) { return static_cast<const EventMark&>(mark).event; }
    static cuda::CUdeviceptr address(const std::byte* device)
    {
        return reinterpret_cast<cuda::CUdeviceptr>(device);
    }

    /// Lends scratch buffer number `place`. The launches of all plans share it, because they run one after
    /// the other.
    cuda::DeviceBuffer lend_scratch(std::size_t place, std::size_t bytes)
    {
        if (scratch_.size() <= place)
            scratch_.resize(place + 1);
        auto& buffer = scratch_[place];
        if (buffer.bytes() < bytes) {
            work_.synchronize();
            buffer = {};
            buffer = cuda::DeviceBuffer(context_, bytes + bytes / 4);
        }
        return {context_, bytes, buffer.address(), [] {}};
    }

    cuda::Context context_;
    cuda::CompileCache& compiled_;
    std::set<std::shared_ptr<const cuda::Compiled>> known_;
    std::map<const PlanChoice*, std::shared_ptr<const cuda::LoadedText>> texts_;
    std::vector<cuda::DeviceBuffer> scratch_;
    cuda::Stream copies_, work_;
};

}  // namespace

std::unique_ptr<SliceEngine> cuda_engine(Backend& backend)
{
    return backend.context() ? std::make_unique<CudaEngine>(*backend.context(), *backend.programs())
                             : nullptr;
}

}  // namespace segfold
