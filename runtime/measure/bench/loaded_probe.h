#pragma once
// A probe's text compiled, loaded, timed, and its results compared with what the host computes.
#include "codegen/catalogue.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// A probe in one configuration.
struct ProbeRequest {
    std::string row;  ///< what the entry is called
    const Probe& probe;
    Configuration configuration;
    std::int64_t num_elements = 0;  ///< threads
    int repeats = 21;
};

/// Measures probes one after the other; inputs stay on the GPU while they suffice.
class Probes {
public:
    /// Both must outlive this object. Throws DeviceError where the bench measures no GPU.
    Probes(Bench& bench, const Catalogue& catalogue);

    /// Compiles, runs, checks and times a probe; bytes are those that it has to move.
    ///
    /// Wrong results are a failed entry without times. Throws DeviceError where the buffers do not fit.
    [[nodiscard]] Entry measure(const ProbeRequest& request);

private:
    const cuda::DeviceBuffer& input(std::int64_t bytes);

    Bench& bench_;
    cuda::CudaTiming& timing_;
    const Catalogue& catalogue_;
    cuda::DeviceBuffer input_;
    std::vector<std::byte> results_;  ///< on the host
};

}  // namespace segfold::bench
