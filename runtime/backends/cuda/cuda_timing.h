#pragma once
// Measures kernels on a GPU with events, and the GPU's highest read rate (the read ceiling).
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/ahead.h"
#include "runtime/backends/cuda/driver/module.h"
#include "runtime/backends/cuda/resident_workload.h"
#include "runtime/backends/timing.h"
#include "runtime/support/processes/turn.h"

namespace segfold::cuda {

/// Measures launches in one stream of a GPU. Processes of the same user that measure on the same GPU take
/// turns.
///
/// Plans that expect() announces are compiled on the host's cores while other plans run. The first announced
/// plan is a program of its own. The others share programs. The compile time of such a plan is an equal part
/// of its program's time.
class CudaTiming : public Timing {
public:
    /// Compiles the kernel that measures the read ceiling. Throws DeviceError if it does not compile.
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
    double compile(const Emitted& text) override;
    void compile_each(std::span<const Emitted> texts) override;
    void expect(std::span<const Emitted> texts) override;
    [[nodiscard]] TimedPlan prepare(PlacedWorkload& placed, const Emitted& text) override;
    /// Reads 1 GiB, or a quarter of the free memory if that is less. Returns the best median over several
    /// grids and numbers of loads in flight.
    [[nodiscard]] ReadCeiling read_ceiling() override;
    /// True if `bytes` is less than four times the size of the L2 cache.
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
    /// Waits until no other process of this user measures on this GPU.
    [[nodiscard]] Turn turn() const;
    void read(const DeviceBuffer& buffer, std::size_t bytes, const std::string& kernel, std::uint64_t grid,
              std::uint64_t block);

    Context context_;
    Stream stream_;
    Module module_;
    DeviceBuffer sink_;
    DeviceBuffer other_;   ///< memory that fill_cache() reads to replace the contents of the L2 cache
    DeviceBuffer unread_;  ///< memory for read()
    std::optional<Module> compare_;
    CompileCache programs_;
    std::unique_ptr<Ahead> ahead_;  ///< null until the first expect()
    friend class TimedResident;
};

/// Casts `timing` to CudaTiming. Throws DeviceError if it belongs to another back end; the message says that
/// `what` needs a GPU.
[[nodiscard]] CudaTiming& cuda_timing(Timing& timing, std::string_view what);

/// Returns the workload that a CudaTiming placed.
[[nodiscard]] ResidentWorkload& resident_of(PlacedWorkload& placed);

}  // namespace segfold::cuda
