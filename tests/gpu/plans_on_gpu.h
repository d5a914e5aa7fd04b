#pragma once
// Emitted texts that run on a GPU.
#include <string>

#include "runtime/backends/cuda/cuda_backend.h"
#include "tests/gpu/session_on_gpu.h"

namespace segfold::test {

class PlansOnGpu : public SessionOnGpu {
protected:
    /// Runs the plan twice, so that scratch left behind by the first run is met by the second.
    [[nodiscard]] Results run(const Workload& workload, const Emitted& emitted, const std::string& name)
    {
        cuda::ResidentWorkload resident(*context_, workload);
        const cuda::LoadedPlan plan(*context_, resident, emitted, name, &cache_);
        cuda::Stream stream(*context_);
        plan.launch(stream);
        stream.synchronize();
        resident.poison_results();
        plan.launch(stream);
        stream.synchronize();
        return resident.results();
    }

    cuda::CompileCache cache_;
};

}  // namespace segfold::test
