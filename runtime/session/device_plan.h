#pragma once
// A plan on a GPU: loaded kernels, scratch memory, and arguments that are set for each run's arrays.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/program.h"
#include "runtime/session/plan_state.h"

namespace segfold {

/// Returns the compile request for two kernels: one makes offsets from lengths, the other checks segments.
[[nodiscard]] cuda::CompileRequest item_offsets_request(const std::string& architecture, int index_bits);

/// A plan's loaded kernels, scratch memory and arguments; run() launches the kernels on the caller's stream.
/// Every method except run() may allocate memory and wait.
class DevicePlan {
public:
    DevicePlan(const cuda::Context& context, const Operator& op, std::shared_ptr<const PlanChoice> choice,
               const PlanSizes& sizes, const PlanOptions& options);
    /// Makes a plan with the text of `other` and scratch memory of its own. If `captured` is not null, the
    /// graph that this stream is capturing owns the memory.
    DevicePlan(const DevicePlan& other, const PlanSizes& sizes, CUstream_st* captured = nullptr);

    /// Queues the fold. The caller must have checked number, types, lengths and locations of the arrays.
    ///
    /// If the stream is being captured, returns true, and the graph gets scratch memory of its own. The plan
    /// may then run while the graph runs.
    bool run(std::span<const ArrayView> inputs, const SegmentsView& segments,
             std::span<const MutableArrayView> results, CUstream_st* stream);
    /// Waits for the stream. Returns true if a run has read a group number that is too large.
    [[nodiscard]] bool has_met_other_numbers(CUstream_st* stream);
    void move_to(CUstream_st* stream) { stream_ = stream; }
    /// Waits for the stream. Returns the names of tables that were read past their ends.
    [[nodiscard]] std::vector<std::string> tables_read_outside(CUstream_st* stream);
    [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_bytes_; }

private:
    struct Offsets;  ///< loaded kernels: one makes offsets from lengths, one checks offsets

    DevicePlan(std::shared_ptr<const cuda::LoadedText> text, std::shared_ptr<const Offsets> makers,
               const Operator& op, std::shared_ptr<const PlanChoice> choice, const PlanSizes& sizes,
               const PlanOptions& options, CUstream_st* captured);
    void queue(std::span<const ArrayView> inputs, const SegmentsView& segments,
               std::span<const MutableArrayView> results, CUstream_st* stream);
    /// Keeps the compiled kernels loaded until the process ends, because the lifetime of a captured graph is
    /// unknown.
    void keep_kernels() const;

    /// The arguments of the kernel make_offsets.
    struct Making {
        std::uint64_t lengths = 0, offsets = 0, words = 0, state = 0;
        std::int64_t num_segments = 0;
        void* pointers[5] = {&lengths, &offsets, &words, &state, &num_segments};
        static constexpr std::size_t argument_sizes[] = {8, 8, 8, 8, 8};

        Making() = default;
        Making(const Making&) = delete;
        Making& operator=(const Making&) = delete;
    };

    /// Allocates memory that belongs to the plan.
    cuda::DeviceBuffer take(std::size_t bytes);
    /// Queues work that sets bytes of the device to zero.
    void zero(const void* device, std::size_t bytes, CUstream_st* stream) const;
    /// Number of bytes in which kernels record reads past tables' ends: 4 per parameter, padded to a multiple
    /// of 8.
    [[nodiscard]] std::size_t words_of_parameters() const { return (op_.parameters.size() + 1) / 2 * 2 * 4; }
    /// Waits for the stream. Returns words of `words_`, which are zero afterwards.
    std::vector<std::uint32_t> take_words(std::size_t first, std::size_t count, CUstream_st* stream);
    void bind_segments(const SegmentsView& segments);
    /// Queues the copy of a scalar from the host to the device. Returns the scalar's address on the device.
    std::uint64_t write_scalar(std::size_t parameter, const ArrayView& value, CUstream_st* stream);
    void validate(const SegmentsView& segments, CUstream_st* stream);

    cuda::Context context_;
    std::shared_ptr<const Offsets> makers_;
    Operator op_;
    std::shared_ptr<const PlanChoice> choice_;
    PlanSizes sizes_;
    PlanOptions options_;
    std::int64_t scratch_bytes_ = 0;
    cuda::Program program_;
    cuda::DeviceBuffer offsets_, tiles_, words_, scalars_;
    Making making_;
    std::vector<std::uint64_t> addresses_;
    bool has_stream_ = false;
    CUstream_st* stream_ = nullptr;
};

}  // namespace segfold
