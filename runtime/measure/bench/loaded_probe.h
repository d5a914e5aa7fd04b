#pragma once
// Compiles, loads and times a probe kernel, and compares its results with results computed on the host.
#include "codegen/catalogue.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// A probe in one configuration.
struct ProbeRequest {
    std::string row;  ///< name of the entry
    const Probe& probe;
    Configuration configuration;
    std::int64_t num_elements = 0;  ///< number of threads
    int repeats = 21;
};

/// Measures probes one after the other. The input stays on the GPU until a probe needs a larger one.
class Probes {
public:
    /// Both arguments must outlive this object. Throws DeviceError if the bench does not measure a GPU.
    Probes(Bench& bench, const Catalogue& catalogue);

    /// Compiles, runs, checks and times a probe. The entry's number of bytes is the number that the probe
    /// must move.
    ///
    /// If results are wrong, the entry has failed and has no times. Throws DeviceError if the buffers do not
    /// fit on the device.
    [[nodiscard]] Entry measure(const ProbeRequest& request);

private:
    const cuda::DeviceBuffer& input(std::int64_t bytes);

    Bench& bench_;
    cuda::CudaTiming& timing_;
    const Catalogue& catalogue_;
    cuda::DeviceBuffer input_;
    std::vector<std::byte> results_;  ///< results copied to host memory
};

}  // namespace segfold::bench
