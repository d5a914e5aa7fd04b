#pragma once
// The arrays of a workload on a GPU.
#include <map>
#include <memory>
#include <vector>

#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/backends/timing.h"
#include "runtime/data/workload.h"

namespace segfold::cuda {

/// Arrays copied from the host to a GPU.
struct ResidentArrays : LoadedArrays {
    std::vector<DeviceBuffer> buffers;
    std::vector<std::uint64_t> addresses;
    std::vector<std::int64_t> lengths;  ///< number of elements per buffer; 0 for a buffer without an array

    void add(DeviceBuffer buffer);
    void add(const Context& context, const Array& array);
    /// Copies the array into a buffer, `shifted_elements` elements after the buffer's begin.
    void add_shifted(const Context& context, const Array& array, int shifted_elements);
    [[nodiscard]] std::size_t bytes() const override;
};

/// A workload's arrays on a GPU. Any number of plans may fold them.
class ResidentWorkload {
public:
    /// Copies the workload's arrays to the GPU. `workload` must outlive this object. Throws InputError if
    /// check_workload() refuses the workload, and DeviceError if the arrays do not fit on the GPU.
    ResidentWorkload(const Context& context, const Workload& workload);

    /// Uses parameter arrays that are already on the GPU. Columns may be longer than the workload.
    /// `workload.arrays` serve only to find an element that reads past the end of a checked table. The caller
    /// must refuse empty segments if the operator has no result for them.
    ResidentWorkload(const Context& context, const Workload& workload,
                     std::shared_ptr<const ResidentArrays> inputs);

    [[nodiscard]] const Workload& workload() const { return workload_; }
    [[nodiscard]] const ResidentArrays& inputs() const { return *inputs_; }
    /// Returns, on the GPU, the arrays of segment_arrays() for `form`, then those of found_arrays(). The
    /// first call for a form copies the arrays.
    [[nodiscard]] const ResidentArrays& segments_as(SegmentForm form) const;
    /// Returns the arrays in the form that the host uses, with offsets in place of flags or keys.
    [[nodiscard]] const ResidentArrays& segments() const
    {
        return segments_as(converted_form(workload_.segments.form));
    }
    /// Returns one array for each result field.
    [[nodiscard]] const ResidentArrays& result_arrays() const { return results_; }

    /// Fills the results with the byte `poison`; bools become false. If two plans run after different bytes,
    /// a comparison shows the entries that a plan did not write.
    void poison_results(std::uint8_t poison = 0xcd);
    /// Returns the address of the words in which kernels record reads past the ends of checked tables; see
    /// BoundPlan::bind_outside().
    [[nodiscard]] std::uint64_t outside_address() const { return outside_.address(); }
    /// Copies the results to the host. If kernels find the segments, shortens the results to the number of
    /// segments found. Throws InputError if a plan has read outside of a checked table since this object was
    /// made.
    [[nodiscard]] Results results() const;

private:
    /// Returns the buffer of found_[i]; null if segments_as() was never called for the segments' own form.
    DeviceBuffer* found_buffer(std::size_t i) const;

    const Context* context_;
    const Workload& workload_;
    std::shared_ptr<const ResidentArrays> inputs_;
    mutable std::map<SegmentForm, ResidentArrays> segments_;  ///< each form is added on first request
    ResidentArrays results_;
    DeviceBuffer outside_;
    std::vector<NamedArray> found_;    ///< found_arrays(); a form's buffers end with buffers for them
    std::vector<ResultField> fields_;  ///< returned_fields() of the operator
    std::vector<std::int64_t> rooms_;  ///< number of values for which each field has memory
};

}  // namespace segfold::cuda
