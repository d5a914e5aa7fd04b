#pragma once
// A plan on a GPU: kernels loaded, scratch memory, arguments that follow the caller's arrays.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/backends/cuda/driver/launch_sequence.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/session/plan_state.h"

namespace segfold {

/// Memory of a plan, its own or the caller's.
class PlanMemory {
public:
    PlanMemory(const cuda::Context& context, const DeviceAllocator& allocator, std::int64_t bytes);
    ~PlanMemory();
    PlanMemory(PlanMemory&& other) noexcept;
    PlanMemory& operator=(PlanMemory&&) = delete;

    [[nodiscard]] std::uint64_t address() const { return address_; }
    void zero(const cuda::Context& context, std::int64_t bytes) const;

private:
    std::optional<cuda::DeviceBuffer> own_;
    DeviceAllocator allocator_;
    std::uint64_t address_ = 0;
};

/// Launches on the caller's stream; every method but run() may allocate and wait.
class DevicePlan {
public:
    DevicePlan(const cuda::Context& context, const Operator& op, std::shared_ptr<const PlanChoice> choice,
               const PlanSizes& sizes, const PlanOptions& options);
    /// With the program of another one, and scratch memory of its own.
    DevicePlan(const DevicePlan& other, const PlanSizes& sizes);

    /// Arrays are of the right number, types, lengths and place.
    void run(std::span<const ArrayView> inputs, const SegmentsView& segments,
             std::span<const MutableArrayView> results, CUstream_st* stream);
    void move_to(CUstream_st* stream) { stream_ = stream; }
    /// The parameters whose tables were read outside, after waiting for the stream.
    [[nodiscard]] std::vector<std::string> tables_read_outside(CUstream_st* stream);
    [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_bytes_; }

private:
    struct Offsets;  ///< kernels that make and check offsets
    /// The arguments of make_offsets.
    struct Making {
        std::uint64_t lengths = 0, offsets = 0, words = 0, state = 0;
        std::int64_t num_segments = 0;
        void* pointers[5] = {&lengths, &offsets, &words, &state, &num_segments};
        static constexpr std::size_t argument_sizes[] = {8, 8, 8, 8, 8};

        Making() = default;
        Making(const Making&) = delete;
        Making& operator=(const Making&) = delete;
    };

    void allocate();
    void bind_segments(const SegmentsView& segments);
    /// Queues the write of a scalar that lies on the host; returns where on the device.
    std::uint64_t write_scalar(std::size_t parameter, const ArrayView& value, CUstream_st* stream);
    void validate(const SegmentsView& segments, CUstream_st* stream);

    cuda::Context context_;
    Operator op_;
    std::shared_ptr<const PlanChoice> choice_;
    PlanSizes sizes_;
    PlanOptions options_;
    cuda::LoadedText text_;
    cuda::Program program_;
    std::vector<PlanMemory> scratch_;
    std::optional<PlanMemory> offsets_, tiles_, words_, scalars_;
    std::shared_ptr<const Offsets> makers_;
    Making making_;
    cuda::LaunchSequence sequence_;
    std::vector<std::uint64_t> addresses_;
    std::vector<std::int64_t> lengths_;
    std::int64_t scratch_bytes_ = 0;
    bool has_stream_ = false;
    CUstream_st* stream_ = nullptr;
};

}  // namespace segfold
