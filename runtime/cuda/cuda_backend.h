#pragma once
// The back end "cuda": a workload through an emitted text, on a GPU.
#include <memory>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backend.h"
#include "runtime/cuda/compile.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/device_buffer.h"

namespace segfold::cuda {

/// A workload's arrays on a GPU, to be reduced by any number of plans.
class ResidentWorkload {
public:
    /// Copies the arrays. The workload must outlive this object. Throws InputError, DeviceError.
    ResidentWorkload(const Context& context, const Workload& workload);
    ~ResidentWorkload();
    ResidentWorkload(ResidentWorkload&&) noexcept;

    struct Buffers;
    [[nodiscard]] const Workload& workload() const { return workload_; }
    [[nodiscard]] Buffers& buffers() const { return *buffers_; }

    /// Fills the results with poison, so that what a plan does not write is seen.
    void poison_results();
    /// Copies the results to the host.
    [[nodiscard]] Results results() const;

private:
    const Workload& workload_;
    std::unique_ptr<Buffers> buffers_;
};

/// An emitted text compiled, loaded, and bound to a resident workload.
class LoadedPlan {
public:
    /// Compiles for the context's GPU and allocates scratch. Throws DeviceError.
    LoadedPlan(const Context& context, ResidentWorkload& resident, const Emitted& emitted,
               const std::string& name, CompileCache* cache = nullptr);
    ~LoadedPlan();
    LoadedPlan(LoadedPlan&&) noexcept;

    /// Queues all launches of the plan.
    void launch(Stream& stream) const;
    /// What the compiler reported for each kernel.
    [[nodiscard]] const std::vector<KernelResources>& resources() const;
    [[nodiscard]] double compile_seconds() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compiles, runs once and copies back: the whole path for one workload.
Results run(const Context& context, const Workload& workload, const Emitted& emitted, const std::string& name);

}  // namespace segfold::cuda
