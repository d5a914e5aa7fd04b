#pragma once
// The back end "cuda": a workload through an emitted text, on a GPU.
#include <map>
#include <memory>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/backends/timing.h"
#include "runtime/data/workload.h"
#include "runtime/support/run_times.h"

namespace segfold::cuda {

/// Arrays of the host copied to a GPU.
struct ResidentArrays : LoadedArrays {
    std::vector<DeviceBuffer> buffers;
    std::vector<std::uint64_t> addresses;
    std::vector<std::int64_t> lengths;  ///< in elements; 0 for a buffer that came without its array

    void add(DeviceBuffer buffer);
    void add(const Context& context, const Array& array);
    /// The array begins `shifted_elements` of its elements behind the buffer's own begin.
    void add_shifted(const Context& context, const Array& array, int shifted_elements);
    [[nodiscard]] std::size_t bytes() const override;
};

/// A workload's arrays on a GPU, to be reduced by any number of plans.
class ResidentWorkload {
public:
    /// Copies the arrays. The workload must outlive this object. Throws InputError, DeviceError.
    ResidentWorkload(const Context& context, const Workload& workload);

    /// The same with the parameters' arrays already there. Columns may be longer than the workload. Its own
    /// `arrays` only serve to name an element that reads past a checked table's end. The caller answers for
    /// empty segments.
    ResidentWorkload(const Context& context, const Workload& workload,
                     std::shared_ptr<const ResidentArrays> inputs);

    [[nodiscard]] const Workload& workload() const { return workload_; }
    [[nodiscard]] const ResidentArrays& inputs() const { return *inputs_; }
    /// The arrays of segment_arrays() in a form that the segments have, then those of found_arrays(); copied
    /// at the first call.
    [[nodiscard]] const ResidentArrays& segments_as(SegmentForm form) const;
    /// The same in the form that the host knows: never flags nor keys.
    [[nodiscard]] const ResidentArrays& segments() const
    {
        return segments_as(converted_form(workload_.segments.form));
    }
    /// One array for each result field.
    [[nodiscard]] const ResidentArrays& result_arrays() const { return results_; }

    /// Fills the results with poison that shows values which a plan does not write. The byte changes each
    /// time, so that two plans with the same omission differ. Bools become false.
    void poison_results(std::uint8_t poison = 0xcd);
    /// Where kernels note reads outside of checked tables; see pack_inputs().
    [[nodiscard]] std::uint64_t outside_address() const { return outside_.address(); }
    /// Copies the results to the host; if a kernel finds the segments, cut to their number. Throws InputError
    /// if a plan has read past a checked table's end since this object was made.
    [[nodiscard]] Results results() const;

private:
    /// The buffer of found_[i]; none before a plan asks for the segments in their own form.
    DeviceBuffer* found_buffer(std::size_t i) const;

    const Context* context_;
    const Workload& workload_;
    std::shared_ptr<const ResidentArrays> inputs_;
    mutable std::map<SegmentForm, ResidentArrays> segments_;  ///< filled as asked for
    ResidentArrays results_;
    DeviceBuffer outside_;
    std::vector<NamedArray> found_;    ///< as found_arrays() gives it; the last buffers of its form
    std::vector<ResultField> fields_;  ///< the returned buffers
    std::vector<std::int64_t> rooms_;  ///< values that each of them has room for
};

/// A kernel of a plan, and how it is launched.
struct PlannedKernel {
    KernelResources resources;  ///< as the compiler reported them
    std::int64_t grid = 0;
    int block_threads = 0;
    int resident_blocks = 0;  ///< blocks that one multiprocessor holds at a time
    std::int64_t dynamic_shared_bytes = 0;
};

/// A LoadedPlan's question to the compiler, and the names of its kernels.
[[nodiscard]] Variant variant_of(const DeviceInfo& gpu, const Emitted& emitted, const std::string& name);

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
    /// Fills scratch memory that need not be zero.
    void poison_scratch(std::uint8_t poison);
    /// The compiler's report on each kernel.
    [[nodiscard]] const std::vector<KernelResources>& resources() const;
    /// The kernels in the order of their launches.
    [[nodiscard]] std::vector<PlannedKernel> kernels() const;
    [[nodiscard]] double compile_seconds() const;
    /// False where the program was on the disk.
    [[nodiscard]] bool is_compiled_now() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compiles, runs once and copies back: the whole path for one workload. `times`, where given, is told how
/// long compiling and the launches took.
Results run(const Context& context, const Workload& workload, const Emitted& emitted, const std::string& name,
            CompileCache* cache = nullptr, RunTimes* times = nullptr);

}  // namespace segfold::cuda
