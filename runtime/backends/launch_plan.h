#pragma once
// The memory, launches and arguments of an emitted text for workloads of one size.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/data/workload.h"

namespace segfold {

/// A scratch buffer and its size.
struct ScratchBuffer {
    std::string name;
    std::int64_t bytes;
    bool zero;        ///< true if the buffer must be zero before the first launch
    int result = -1;  ///< index of a result in the buffer that only `map` reads; else -1
};

/// A kernel launch with its sizes. Launches without blocks are left out of the plan.
struct KernelLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    std::int64_t grid;
    int block;
    std::int64_t shared_bytes;  ///< bytes of dynamic shared memory per block
};

struct LaunchPlan {
    std::vector<ScratchBuffer> scratch;
    std::vector<KernelLaunch> launches;
};

/// The number of multiprocessors by which reproducible plans size their grids, on every device.
constexpr int kReproducibleMultiprocessors = 128;

/// The sizes of a workload on which launches and kernels depend.
struct SegmentSizes {
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;    ///< unused if the kernels find the segments
    std::int64_t num_items = 0;       ///< sum of the segments' lengths; not num_elements for ranges
    std::int64_t uniform_length = 0;  ///< length of each segment, for form uniform
    int index_bits = 32;
    std::int64_t num_features = 1;  ///< number of features in a row

    bool operator==(const SegmentSizes&) const = default;
};

[[nodiscard]] SegmentSizes sizes_of(const Segments& segments, std::int64_t num_features = 1);

/// Evaluates the launch formulas of `emitted`. If kernels find the segments, formulas cannot use
/// num_segments.
///
/// Throws SpecError with the stage's line if a size is impossible.
LaunchPlan plan_launches(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// Returns the arrays that kernels read through the pointers of their struct Segments, in the struct's order.
/// The result borrows arrays of `segments`, which must outlive it.
///
///   form offsets            offsets [num_segments + 1]
///   form ranges             begins [num_segments], then running sums of the lengths [num_segments + 1]
///   form flags              flags [num_elements]
///   form keys               keys [num_elements]
///   form groups             numbers [num_elements]
///   forms whole, uniform    none
std::vector<NamedArray> segment_arrays(const Segments& segments);
/// Like segment_arrays(segments), but returns the arrays of `form`. It may differ from the form of `segments`
/// if they also have the arrays of `form` (see Emitted::form).
std::vector<NamedArray> segment_arrays(const Segments& segments, SegmentForm form);

/// Returns the arrays that kernels write through the pointers of their struct Segments, where they follow
/// segment_arrays(). They are filled with a poison byte, except `outside`.
///
///   form keys      found_keys [num_elements], then num_found [1]
///   form flags     num_found [1]
///   form groups    outside [1], which is 0 until a kernel reads a group number that is too large
///   other forms    none
std::vector<NamedArray> found_arrays(const Segments& segments, SegmentForm form);

/// Shortens results to the number of segments that a kernel has found, and adds the keys. `found` has
/// found_arrays() after the launch.
///
/// The last `num_outputs` results have one value per element and keep their length. If `may_be_other_form` is
/// true and no kernel has written num_found, the number of segments is that of `segments`. Throws
/// InternalError if the number of segments is impossible.
void take_found(Results& results, const std::vector<NamedArray>& found, const Segments& segments,
                std::size_t num_outputs, bool may_be_other_form = false);

/// Returns the bytes of a struct whose members are these addresses.
std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses);

/// Throws InputError if a word is nonzero. The message names the tables of the nonzero words. `words` is the
/// array of BoundPlan::bind_outside() after a launch.
void refuse_noted_reads(const Workload& workload, std::span<const std::uint32_t> words);

}  // namespace segfold
