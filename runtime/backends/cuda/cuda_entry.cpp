// Adapts the back end "cuda" to the common interface.
#include <fmt/format.h>

#include <future>
#include <limits>

#include "runtime/backends/backend_table.h"
#include "runtime/backends/compile_time.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/program.h"

namespace segfold {
namespace {

class CudaBackend : public Backend {
public:
    /// Makes the context in the background, while the caller prepares data and plan.
    explicit CudaBackend(int ordinal)
        : gpu_(cuda::device(ordinal)),
          context_(std::async(std::launch::async, [ordinal] { return cuda::Context(ordinal); }).share())
    {}
    explicit CudaBackend(const cuda::Context& context) : gpu_(context.info())
    {
        std::promise<cuda::Context> made;
        made.set_value(context);
        context_ = made.get_future().share();
    }

    [[nodiscard]] std::string_view name() const override { return "cuda"; }
    [[nodiscard]] std::string description() const override
    {
        return fmt::format("{}, compute capability {}.{}", gpu_.name, gpu_.compute_major, gpu_.compute_minor);
    }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] Target target() const override { return cuda::target_of(gpu_); }
    [[nodiscard]] std::optional<cuda::DeviceInfo> device() const override { return gpu_; }
    [[nodiscard]] std::optional<DeviceIdentity> identity() const override { return identity_of(gpu_); }
    [[nodiscard]] std::unique_ptr<Timing> timing() override
    {
        return std::make_unique<cuda::CudaTiming>(context_.get());
    }
    [[nodiscard]] const cuda::Context* context() const override { return &context_.get(); }
    [[nodiscard]] cuda::CompileCache* programs() override { return &programs_; }
    [[nodiscard]] bool only_loads() override
    {
        try {
            return cuda::kernel_cache().only_loads();
        } catch (const DeviceError&) {  // no NVRTC, and nothing to load
            return true;
        }
    }
    [[nodiscard]] double seconds_to_compile(const Emitted& text) override
    {
        const auto request = cuda::variant_of(gpu_, text).request;
        try {
            if (programs_.contains(request) || cuda::load_kept(request))
                return 0;
            return only_loads() ? std::numeric_limits<double>::infinity()
                                : expected_compile_seconds(request.source, kNvrtcModel);
        } catch (const DeviceError&) {  // without NVRTC only compiled texts run
            return std::numeric_limits<double>::infinity();
        }
    }
    void compile_all(std::span<const Emitted> texts) override
    {
        programs_.prepare_each(cuda::requests_of(gpu_, texts));
    }

private:
    Results run_workload(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                         RunTimes& times) override
    {
        check_workload(workload);
        // Compilation needs only the GPU's architecture. So it runs while the context is made and the arrays
        // are copied.
        const auto request = cuda::variant_of(gpu_, *text).request;
        const auto compiling = std::async(std::launch::async, [&] { return programs_.get(request); });
        const auto& context = context_.get();
        auto inputs = std::make_shared<cuda::ResidentArrays>();
        for (const auto& array : workload.arrays)
            inputs->add_shifted(context, array, circumstances.shifted_elements);
        cuda::ResidentWorkload resident(context, workload, std::move(inputs));
        cuda::Program program(context, resident, *text, &programs_);
        if (circumstances.scratch_poison)
            program.poison_scratch(*circumstances.scratch_poison);
        cuda::Stream stream(context);
        cuda::Event start(context), stop(context);
        for (int i = 0; i < circumstances.launches; ++i) {
            if (i > 0)
                resident.poison_results();
            start.record(stream);
            program.launch(stream.handle());
            stop.record(stream);
            stream.synchronize();
        }
        if (const auto& compiled = *program.text()->compiled(); !compiled.is_from_disk)
            times.compile_seconds = compiled.seconds;
        times.kernel_seconds = elapsed_milliseconds(start, stop) / 1e3;
        return resident.results();
    }

    cuda::DeviceInfo gpu_;
    std::shared_future<cuda::Context> context_;
    cuda::CompileCache programs_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options)
{
    return std::make_unique<CudaBackend>(options.device.value_or(0));
}

std::unique_ptr<Backend> cuda::make_backend(const Context& context)
{
    return std::make_unique<CudaBackend>(context);
}

}  // namespace segfold
