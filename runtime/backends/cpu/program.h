#pragma once
// A loaded native text, with memory and arguments for workloads of one size.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backends/bound_plan.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/data/array_view.h"

namespace segfold::cpu {

/// A loaded native text with its argument layout. Plans of all sizes share it.
class LoadedText {
public:
    /// Throws DeviceError if the text does not compile.
    LoadedText(const Operator& op, const Emitted& emitted);

    [[nodiscard]] const Module& module() const { return *module_; }

private:
    friend class Program;

    std::shared_ptr<const Module> module_;
    std::shared_ptr<const BoundLayout> layout_;
    std::vector<std::pair<std::string, Kernel>> kernels_;
    std::size_t num_parameters_;
};

/// Runs a native text on arrays of fixed sizes. A run allocates nothing. Only one thread at a time may run
/// the program.
class Program {
public:
    /// Throws DeviceError if the text does not compile.
    Program(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes)
        : Program(std::make_shared<const LoadedText>(op, emitted), emitted, sizes)
    {}
    /// Binds the arrays and the segments of a workload, which must outlive the runs.
    Program(const Workload& workload, const Emitted& emitted);
    /// `text` must be the compiled text of `emitted`.
    Program(std::shared_ptr<const LoadedText> text, const Emitted& emitted, const SegmentSizes& sizes);

    [[nodiscard]] const SegmentSizes& sizes() const { return sizes_; }
    /// Binds the array of a parameter for the next runs.
    void bind_input(std::size_t parameter, const ArrayView& array);
    /// Binds segments for the next runs, and the arrays for segments that the text finds. The arrays of
    /// `segments` must outlive the runs.
    void bind_segments(const Segments& segments);
    /// Folds the bound arrays on all cores that the process may use. `results` has one array for each of
    /// returned_fields().
    void run(std::span<const MutableArrayView> results);
    /// Folds the bound workload. Throws InputError if the text has read outside of a checked table.
    void run(const Workload& workload, Results& results);

    /// Returns one word per parameter, for refuse_noted_reads(). A word is nonzero if the last run read past
    /// that table's end.
    [[nodiscard]] std::span<const std::uint32_t> outside() const { return outside_; }
    [[nodiscard]] bool has_read_outside() const
    {
        return std::ranges::any_of(outside_, [](std::uint32_t word) { return word != 0; });
    }
    /// Returns the arrays of found_arrays(), as the last run has written them.
    [[nodiscard]] const std::vector<NamedArray>& found() const { return found_; }
    /// Fills scratch memory with `byte`, except where kernels need zeros.
    void poison_scratch(std::uint8_t byte);
    [[nodiscard]] const Module& module() const { return text_->module(); }

private:
    struct Step {
        Kernel entry;
        std::int64_t parts;
        std::vector<void*> arguments;
    };

    /// Fills scratch buffers with `byte`. If `is_zero` is true, fills the buffers that must be zero before
    /// the first run; else all others.
    void fill_scratch(bool is_zero, std::uint8_t byte);

    std::shared_ptr<const LoadedText> text_;
    SegmentForm form_;
    SegmentSizes sizes_;
    BoundPlan bound_;
    std::vector<NamedArray> given_, found_;  ///< arrays of the bound segments
    std::vector<std::byte> scratch_;
    std::vector<std::uint64_t> scratch_addresses_;
    std::vector<std::uint32_t> outside_;
    std::vector<Step> steps_;
};

}  // namespace segfold::cpu
