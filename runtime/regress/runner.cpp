#include "runtime/regress/runner.h"

#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/simt/simt_backend.h"

namespace segfold::regress {
namespace {

constexpr int kSimtMultiprocessors = 2;  // few blocks, so that each takes several tiles

class SimtRunner : public Runner {
public:
    explicit SimtRunner(std::uint64_t seed) : seed_(seed) {}

    Results run(const Workload& workload, const Emitted& emitted, const std::string& name,
                const Circumstances& circumstances) override
    {
        (void)name;
        return simt::run(workload, emitted, simt::options_from_seed(seed_ + circumstances.round), {},
                         kSimtMultiprocessors, circumstances.launches, circumstances.shifted_elements,
                         circumstances.scratch_poison);
    }

    [[nodiscard]] Target target() const override { return {}; }
    [[nodiscard]] bool has_schedules() const override { return true; }

private:
    std::uint64_t seed_;
};

class CudaRunner : public Runner {
public:
    explicit CudaRunner(const cuda::Context& context) : context_(context), stream_(context) {}

    Results run(const Workload& workload, const Emitted& emitted, const std::string& name,
                const Circumstances& circumstances) override
    {
        check_workload(workload);
        auto inputs = std::make_shared<cuda::ResidentArrays>();
        for (const auto& array : workload.arrays)
            inputs->add_shifted(context_, array, circumstances.shifted_elements);
        cuda::ResidentWorkload resident(context_, workload, std::move(inputs));
        cuda::LoadedPlan plan(context_, resident, emitted, name, &compiled_);
        plan.poison_scratch(circumstances.scratch_poison);
        for (int i = 0; i < circumstances.launches; ++i) {
            resident.poison_results();
            plan.launch(stream_);
            stream_.synchronize();
        }
        return resident.results();
    }

    [[nodiscard]] Target target() const override { return cuda::target_of(context_.info()); }
    [[nodiscard]] bool has_schedules() const override { return false; }

private:
    cuda::Context context_;
    cuda::Stream stream_;
    cuda::CompileCache compiled_;
};

}  // namespace

std::unique_ptr<Runner> simt_runner(std::uint64_t seed) { return std::make_unique<SimtRunner>(seed); }

std::unique_ptr<Runner> cuda_runner(const cuda::Context& context)
{
    return std::make_unique<CudaRunner>(context);
}

}  // namespace segfold::regress
