#pragma once
// Emitted texts that run on a GPU.
#include <string>

#include "runtime/backends/cuda/program.h"
#include "runtime/backends/cuda/resident_workload.h"
#include "tests/gpu/session_on_gpu.h"

namespace segfold::test {

/// Runs a text twice, so that scratch left behind by the first run is met by the second.
inline Results run_twice(const cuda::Context& context, cuda::CompileCache& cache, const Workload& workload,
                         const Emitted& emitted)
{
    cuda::ResidentWorkload resident(context, workload);
    cuda::Program program(context, resident, emitted, &cache);
    cuda::Stream stream(context);
    program.launch(stream.handle());
    stream.synchronize();
    resident.poison_results();
    program.launch(stream.handle());
    stream.synchronize();
    return resident.results();
}

class PlansOnGpu : public SessionOnGpu {
protected:
    [[nodiscard]] Results run(const Workload& workload, const Emitted& emitted)
    {
        return run_twice(*context_, cache_, workload, emitted);
    }

    cuda::CompileCache cache_;
};

}  // namespace segfold::test
