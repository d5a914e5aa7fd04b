#pragma once
// Segment keys: the number of each element's segment. Peers by key take them in place of offsets.
#include <cstdint>

#include "runtime/backends/cuda/cuda_backend.h"

namespace segfold::bench {

/// Keys of a workload on a GPU. An empty segment has no key; each other segment is a run of equal keys.
struct SegmentKeys {
    /// Builds the keys on the GPU, outside of all timing. Throws InputError if there are more segments than
    /// an i32 can count, or if segments are ranges, which may overlap.
    SegmentKeys(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident);

    /// Describes where a peer by key writes its results. If `is_compacted` is true, its i-th result belongs
    /// to the i-th segment with elements.
    [[nodiscard]] Filled filled(bool is_compacted) const;

    std::int64_t num_runs = 0;
    cuda::DeviceBuffer keys;          ///< i32 [num_elements]
    cuda::DeviceBuffer unique_keys;   ///< i32 [num_runs], written by peers
    cuda::DeviceBuffer counted_runs;  ///< one i32: the number of runs, written by peers
    /// Segment of each run: i32 [num_runs], ascending; empty if every segment has elements.
    cuda::DeviceBuffer segment_of_run;
};

}  // namespace segfold::bench
