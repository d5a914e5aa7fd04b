#pragma once
// An emitted text with the sizes of one workload: what to allocate, what to launch, what to pass.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backend.h"

namespace segfold {

/// A scratch buffer of known size.
struct ScratchBuffer {
    std::string name;
    std::int64_t bytes;
    bool zero;  ///< must be zero before the first launch
};

/// A launch of known size; a grid of 0 blocks is left out.
struct KernelLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    std::int64_t grid;
    int block;
};

struct LaunchPlan {
    std::vector<ScratchBuffer> scratch;
    std::vector<KernelLaunch> launches;
};

/// Evaluates the formulas of `emitted`. Throws InternalError for a size that makes no sense.
LaunchPlan plan_launches(const Emitted& emitted, const Segments& segments, int num_multiprocessors);

/// The arrays that the kernel's struct Segments points to, in its order; empty for whole and uniform.
///
/// form offsets: offsets [num_segments + 1]. form ranges: begins [num_segments], then the offsets of items along the
/// segments [num_segments + 1].
std::vector<NamedArray> segment_arrays(const Segments& segments);

/// Number of items: elements counted along the segments, which differs from num_elements only for ranges.
std::int64_t num_items(const Segments& segments);

/// The bytes of a struct of pointers, one for each address.
std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses);

/// The bytes of the kernel's struct Segments; `addresses` are those of segment_arrays().
std::vector<std::byte> pack_segments(const Segments& segments, std::span<const std::uint64_t> addresses);

}  // namespace segfold
