#pragma once
// A plan on a GPU: kernels loaded, scratch memory, arguments that follow the caller's arrays.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/bound_plan.h"
#include "runtime/backends/cuda/device_buffer.h"
#include "runtime/backends/cuda/module.h"
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

    void allocate();
    void bind_segments(const SegmentsView& segments, CUstream_st* stream);
    void validate(const SegmentsView& segments, CUstream_st* stream);

    cuda::Context context_;
    Operator op_;
    std::shared_ptr<const PlanChoice> choice_;
    PlanSizes sizes_;
    PlanOptions options_;
    cuda::Module module_;
    BoundPlan bound_;
    std::vector<cuda::Kernel> kernels_;
    std::vector<cuda::LaunchShape> shapes_;
    std::vector<PlanMemory> scratch_;
    std::optional<PlanMemory> offsets_, tile_sums_, words_;
    std::shared_ptr<const Offsets> makers_;
    std::vector<std::uint64_t> addresses_;
    std::vector<std::int64_t> lengths_;
    std::int64_t scratch_bytes_ = 0;
    bool has_stream_ = false;
    CUstream_st* stream_ = nullptr;
};

}  // namespace segfold
