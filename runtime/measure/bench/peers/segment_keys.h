#pragma once
// The segment of each element, as a key. Some peers take such keys instead of offsets.
#include <cstdint>

#include "runtime/backends/cuda/resident_workload.h"

namespace segfold::bench {

/// The keys of a workload on a GPU. Each non-empty segment is a run of equal keys; empty segments have no
/// key.
struct SegmentKeys {
    /// Builds the keys on the GPU, outside of any measurement. Throws InputError if segments are ranges,
    /// which may overlap, or if an i32 cannot count them.
    SegmentKeys(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident);

    /// Describes the entries of the result arrays that a peer writes if it takes keys. If `is_compacted` is
    /// true, its i-th result belongs to the i-th non-empty segment.
    [[nodiscard]] Filled filled(bool is_compacted) const;

    std::int64_t num_runs = 0;
    cuda::DeviceBuffer keys;          ///< i32 [num_elements]
    cuda::DeviceBuffer unique_keys;   ///< i32 [num_runs], written by peers
    cuda::DeviceBuffer counted_runs;  ///< one i32: the number of runs, written by peers
    /// Segment of each run: i32 [num_runs], ascending; empty if every segment has elements.
    cuda::DeviceBuffer segment_of_run;
};

}  // namespace segfold::bench
