#pragma once
// Measures times on a GPU by events, and the read ceiling that they are compared with.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/ahead.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/driver/module.h"
#include "runtime/backends/timing.h"
#include "runtime/support/processes/turn.h"

namespace segfold::cuda {

/// Measures launches in one stream of a GPU. Processes of a user that measure on one GPU take turns at what
/// they time.
///
/// Expected plans are compiled on the host's cores while other plans run. The first plan is a program by
/// itself. The other plans share programs, and each counts for an equal part of its program's compile time.
class CudaTiming : public Timing {
public:
    /// Compiles the kernel that only reads. Throws DeviceError.
    explicit CudaTiming(const Context& context);

    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] Stream& stream() { return stream_; }
    [[nodiscard]] CompileCache& programs() { return programs_; }

    [[nodiscard]] TimingFacts facts() const override;
    [[nodiscard]] std::int64_t memory_bytes() const override;
    [[nodiscard]] std::int64_t free_bytes() const override;
    [[nodiscard]] std::shared_ptr<const LoadedArrays> load(std::vector<Array> arrays) override;
    [[nodiscard]] std::shared_ptr<const LoadedArrays> copy(const LoadedArrays& arrays) override;
    [[nodiscard]] std::unique_ptr<PlacedWorkload> place(const Workload& workload,
                                                        std::shared_ptr<const LoadedArrays> arrays) override;
    double compile(const PlanText& plan) override;
    void compile_each(std::span<const PlanText> plans) override;
    void expect(std::span<const PlanText> plans) override;
    [[nodiscard]] std::unique_ptr<TimedPlan> prepare(PlacedWorkload& placed, const PlanText& plan) override;
    /// Returns the best median over several grids and numbers of loads in flight, on 1 GiB or on a quarter of
    /// the free memory.
    [[nodiscard]] ReadCeiling read_ceiling() override;
    /// Compares with the size of the L2 cache.
    [[nodiscard]] bool fits_cache(std::int64_t bytes) const override;
    void read(std::size_t bytes) override;
    [[nodiscard]] std::vector<double> time(const TimedLaunch& launch, int warmups, int repeats,
                                           bool flush) override;
    [[nodiscard]] std::vector<std::vector<double>> time_by_turns(std::span<const TimedLaunch> launches,
                                                                 int dropped, int samples) override;
    void wait() override { stream_.synchronize(); }
    void synchronize() override { context_.synchronize(); }
    [[nodiscard]] bool is_asynchronous() const override { return true; }

private:
    void fill_cache() override;
    /// Waits until no other process of this user times anything on this GPU.
    [[nodiscard]] Turn turn() const;
    void read(const DeviceBuffer& buffer, std::size_t bytes, const std::string& kernel, std::uint64_t grid,
              std::uint64_t block);

    Context context_;
    Stream stream_;
    Module module_;
    DeviceBuffer sink_;
    DeviceBuffer other_;   ///< fills the L2
    DeviceBuffer unread_;  ///< memory that read() reads
    std::optional<Module> compare_;
    CompileCache programs_;
    std::unique_ptr<Ahead> ahead_;  ///< null until plans are expected
    friend class TimedResident;
};

/// Casts `timing` to CudaTiming. Throws DeviceError if it belongs to another back end; the message says that
/// `what` needs a GPU.
[[nodiscard]] CudaTiming& cuda_timing(Timing& timing, std::string_view what);

/// Returns the workload that a CudaTiming has placed.
[[nodiscard]] ResidentWorkload& resident_of(PlacedWorkload& placed);

}  // namespace segfold::cuda
