#pragma once
// Applies an emitted text to the sizes of one workload: memory to allocate, kernels to launch, arguments to
// pass.
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
    bool zero;        ///< true: must be zero before the first launch
    int result = -1;  ///< the same as EmittedScratch::result
};

/// A launch and its sizes. A launch with a grid of 0 blocks is left out of the plan.
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
    std::int64_t num_segments = 0;    ///< unused if the kernels find the segments
    std::int64_t num_items = 0;       ///< num_items() for ranges; num_elements for other forms
    std::int64_t uniform_length = 0;  ///< for form uniform only
    int index_bits = 32;
    std::int64_t num_features = 1;  ///< length of a row

    bool operator==(const SegmentSizes&) const = default;
};

[[nodiscard]] SegmentSizes sizes_of(const Segments& segments, std::int64_t num_features = 1);

/// Evaluates the launch formulas of `emitted`. Formulas of kernels that find the segments cannot use
/// num_segments.
///
/// Throws SpecError with the stage's line if a size is impossible.
LaunchPlan plan_launches(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// Returns the arrays that the kernel's struct Segments points to and reads, in the struct's order. Arrays of
/// `segments` are borrowed, so it must outlive the result.
///
/// form offsets: offsets [num_segments + 1]. form ranges: begins [num_segments], then the running number of
/// items [num_segments + 1]. form flags: flags [num_elements]. form keys: keys [num_elements]. form
/// groups: numbers [num_elements]. Forms whole and uniform: none.
std::vector<NamedArray> segment_arrays(const Segments& segments);
/// Returns the arrays for `form`, another form in which the segments are also given (Emitted::form).
std::vector<NamedArray> segment_arrays(const Segments& segments, SegmentForm form);

/// Returns the next arrays of the struct: kernels that find the segments write them. They are poisoned.
///
/// form keys: found_keys [num_elements]. forms flags and keys: num_found [1]. form groups: outside [1], which
/// is 0. Other forms: none.
std::vector<NamedArray> found_arrays(const Segments& segments, SegmentForm form);

/// Cuts results to the number of segments that a kernel has found, and adds the keys. `found` holds
/// found_arrays() as the kernel left them.
///
/// The last `num_outputs` results have one value per element and are not cut. If `may_be_other_form` and no
/// kernel has written num_found, cuts to the number of segments that the host knows. Throws InternalError if
/// the number of segments is impossible.
void take_found(Results& results, const std::vector<NamedArray>& found, const Segments& segments,
                std::size_t num_outputs, bool may_be_other_form = false);

/// Returns the bytes of a struct that holds these addresses as pointers.
std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses);

/// Throws InputError if one of `words` is not 0. They are the words that BoundPlan::bind_outside() calls
/// `outside`.
void refuse_noted_reads(const Workload& workload, std::span<const std::uint32_t> words);

}  // namespace segfold
