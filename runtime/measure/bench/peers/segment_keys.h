#pragma once
// Keys for peers by key, in place of offsets: each element's segment number.
#include <cstdint>

#include "runtime/backends/cuda/cuda_backend.h"

namespace segfold::bench {

/// Keys of a workload on a GPU. Segments without an element have no key; the others are its runs.
struct SegmentKeys {
    /// Builds them on the GPU, untimed. Throws InputError for more segments than an i32 counts, and for
    /// ranges, which may overlap.
    SegmentKeys(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident);

    /// The places that a peer by key fills.
    [[nodiscard]] Filled filled(bool is_compacted) const;

    std::int64_t num_runs = 0;
    cuda::DeviceBuffer keys;          ///< i32 [num_elements]
    cuda::DeviceBuffer unique_keys;   ///< i32 [num_runs], for the peers to write
    cuda::DeviceBuffer counted_runs;  ///< i32, for the peers to write
    cuda::DeviceBuffer
        segment_of_run;  ///< i32 [num_runs], ascending; empty where every segment has an element
};

}  // namespace segfold::bench
