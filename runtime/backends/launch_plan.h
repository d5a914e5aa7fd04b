#pragma once
// The allocations, launches and arguments of an emitted text for the sizes of one workload.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/data/workload.h"

namespace segfold {

/// A scratch buffer of known size.
struct ScratchBuffer {
    std::string name;
    std::int64_t bytes;
    bool zero;        ///< must be zero before the first launch
    int result = -1;  ///< as in EmittedScratch
};

/// A launch of known size; a grid of 0 blocks is left out.
struct KernelLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    std::int64_t grid;
    int block;
    std::int64_t shared_bytes;  ///< of dynamic shared memory, each block
};

struct LaunchPlan {
    std::vector<ScratchBuffer> scratch;
    std::vector<KernelLaunch> launches;
};

/// Multiprocessors that the grids of reproducible plans are sized for, on every device.
constexpr int kReproducibleMultiprocessors = 128;

/// The numbers of a workload's segments that launches and kernels are given.
struct SegmentSizes {
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;    ///< ignored if the kernels find the segments
    std::int64_t num_items = 0;       ///< see num_items(); num_elements for every form but ranges
    std::int64_t uniform_length = 0;  ///< form uniform
    int index_bits = 32;
    std::int64_t num_features = 1;  ///< of rows

    bool operator==(const SegmentSizes&) const = default;
};

[[nodiscard]] SegmentSizes sizes_of(const Segments& segments, std::int64_t num_features = 1);

/// Evaluates the formulas of `emitted`; those for segments that the kernels find do not know num_segments.
///
/// Throws SpecError, with the line of the stage, for a size that makes no sense.
LaunchPlan plan_launches(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);

/// The arrays that the kernel's struct Segments points to and reads, in its order; empty for whole and
/// uniform. What `segments` have is lent, and they must outlive it.
///
/// form offsets: offsets [num_segments + 1]. form ranges: begins [num_segments], then the offsets of items
/// along the segments [num_segments + 1]. form flags: flags [num_elements]. form keys: keys [num_elements].
std::vector<NamedArray> segment_arrays(const Segments& segments);
/// The same in another form that the segments have (Emitted::form).
std::vector<NamedArray> segment_arrays(const Segments& segments, SegmentForm form);

/// The arrays that follow in the struct, poisoned; kernels that find the segments write them.
///
/// form keys: found_keys [num_elements]. forms flags and keys: num_found [1]. Other forms: none.
std::vector<NamedArray> found_arrays(const Segments& segments, SegmentForm form);

/// Cuts results to the segments that a kernel has found, and takes the keys along; `found` is found_arrays()
/// as the kernel left it.
///
/// The last `num_outputs` results have a value for each element, and stay. Where `may_be_other_form`, and no
/// kernel has written num_found, results are cut to the segments that the host knows of. Throws InternalError
/// for a number of segments that no input has.
void take_found(Results& results, const std::vector<NamedArray>& found, const Segments& segments,
                std::size_t num_outputs, bool may_be_other_form = false);

/// The bytes of a struct of pointers, one for each address.
std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses);

/// Throws InputError if one of `words` is not 0: the `outside` of BoundPlan::bind_inputs().
void refuse_noted_reads(const Workload& workload, std::span<const std::uint32_t> words);

}  // namespace segfold
