#pragma once
// A loaded native text, with memory and arguments for workloads of one size.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backends/bound_plan.h"
#include "runtime/backends/cpu/native_program.h"

namespace segfold::cpu {

/// A loaded native text with its argument layout, shared by plans of all sizes.
class NativeText {
public:
    /// Throws DeviceError if the text does not compile.
    NativeText(const Operator& op, const Emitted& emitted);

    [[nodiscard]] const NativeProgram& program() const { return *program_; }

private:
    friend class NativePlan;

    std::shared_ptr<const NativeProgram> program_;
    std::shared_ptr<const BoundLayout> layout_;
    std::vector<std::pair<std::string, NativeKernel>> kernels_;
    std::size_t num_parameters_;
};

/// Runs a native text on arrays of fixed sizes. A run allocates nothing. Only one thread at a time may run a
/// plan.
class NativePlan {
public:
    /// Throws DeviceError if the text does not compile.
    NativePlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes)
        : NativePlan(std::make_shared<const NativeText>(op, emitted), emitted, sizes)
    {}
    /// `text` must be the compiled text of `emitted`.
    NativePlan(std::shared_ptr<const NativeText> text, const Emitted& emitted, const SegmentSizes& sizes);

    /// Binds the array of a parameter for the next runs. `length` is the array's number of values.
    void bind_input(std::size_t parameter, const void* data, std::int64_t length);
    /// Folds the bound inputs on all cores available to the process.
    ///
    ///   segments  the addresses of segment_arrays() in the text's form
    ///   results   the address of an array for each result field
    void run(std::span<const std::uint64_t> segments, std::span<const std::uint64_t> results);

    /// Returns one word per parameter, for refuse_noted_reads(). A word is nonzero if the last run read past
    /// that table's end.
    [[nodiscard]] std::span<const std::uint32_t> outside() const { return outside_; }
    /// Fills scratch memory with `byte`, except where kernels need zeros.
    void poison_scratch(std::uint8_t byte);
    [[nodiscard]] const NativeProgram& program() const { return text_->program(); }
    [[nodiscard]] std::int64_t scratch_bytes() const;

private:
    struct Kernel {
        NativeKernel entry;
        std::int64_t parts;
        std::vector<void*> arguments;
    };

    /// Fills scratch memory with `byte`: if `is_zero` is true, the buffers that must be zero before the first
    /// run; if false, all other buffers.
    void fill_scratch(bool is_zero, std::uint8_t byte);

    std::shared_ptr<const NativeText> text_;
    BoundPlan bound_;
    std::vector<std::byte> scratch_;
    std::vector<std::uint64_t> scratch_addresses_;
    std::vector<std::uint32_t> outside_;
    std::vector<Kernel> kernels_;
};

}  // namespace segfold::cpu
