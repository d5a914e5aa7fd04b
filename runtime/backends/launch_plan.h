#pragma once
// The memory, launches and arguments of an emitted text for the sizes of one workload.
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
    int result = -1;  ///< see EmittedScratch::result
};

/// A kernel launch with its sizes. Launches with a grid of 0 blocks are left out of the plan.
struct KernelLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    std::int64_t grid;
    int block;
    std::int64_t shared_bytes;  ///< dynamic shared memory of each block
};

struct LaunchPlan {
    std::vector<ScratchBuffer> scratch;
    std::vector<KernelLaunch> launches;
};

/// Reproducible plans size their grids for this many multiprocessors, on every device.
constexpr int kReproducibleMultiprocessors = 128;

/// The sizes of a workload that launches and kernels depend on.
struct SegmentSizes {
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;  ///< unused if the kernels find the segments
    std::int64_t num_items = 0;  ///< sum of the segments' lengths; differs from num_elements only for ranges
    std::int64_t uniform_length = 0;  ///< length of each segment; for form uniform only
    int index_bits = 32;
    std::int64_t num_features = 1;  ///< length of a row

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
/// Returns the same for `form`, which may be another form than that of `segments` if they hold its arrays too
/// (Emitted::form).
std::vector<NamedArray> segment_arrays(const Segments& segments, SegmentForm form);

/// Returns the arrays that kernels write through the pointers of their struct Segments. They follow
/// segment_arrays() there, and are filled with a poison byte, except `outside`.
///
///   form keys      found_keys [num_elements], then num_found [1]
///   form flags     num_found [1]
///   form groups    outside [1], which is 0 until a kernel reads a number beyond the groups
///   other forms    none
std::vector<NamedArray> found_arrays(const Segments& segments, SegmentForm form);

/// Shortens results to the number of segments that a kernel has found, and adds the keys. `found` holds
/// found_arrays() after the launch.
///
/// The last `num_outputs` results have one value per element and keep their length. If `may_be_other_form` is
/// true and no kernel has written num_found, the number of segments is that of `segments`. Throws
/// InternalError if the number of segments is impossible.
void take_found(Results& results, const std::vector<NamedArray>& found, const Segments& segments,
                std::size_t num_outputs, bool may_be_other_form = false);

/// Returns the bytes of a struct that holds these addresses as pointers.
std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses);

/// Throws InputError if a word is not 0, naming the tables of these words. `words` is the array of
/// BoundPlan::bind_outside() after a launch.
void refuse_noted_reads(const Workload& workload, std::span<const std::uint32_t> words);

}  // namespace segfold
