#pragma once
// Compiles and loads an emitted text on a GPU, binds its kernels to arrays, and launches them.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/bound_plan.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/driver/launch_sequence.h"
#include "runtime/backends/timing.h"

namespace segfold::cuda {

class ResidentWorkload;

/// Returns the compile request for a text, with the names of its kernels.
[[nodiscard]] Variant variant_of(const DeviceInfo& gpu, const Emitted& emitted);
[[nodiscard]] Variant variant_of(const std::string& architecture, const Emitted& emitted);

/// Returns the compile requests for several texts.
[[nodiscard]] std::vector<CompileRequest> requests_of(const DeviceInfo& gpu, std::span<const Emitted> texts);

/// A text that is compiled for a GPU and loaded there. Programs of all sizes share it.
class LoadedText {
public:
    /// If `cache` is null, the image is kept only on disk. If the text does not compile or load, throws
    /// DeviceError that names lines of the stage's file.
    LoadedText(const Context& context, const Emitted& emitted, CompileCache* cache = nullptr);

    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] const std::shared_ptr<const Compiled>& compiled() const { return compiled_; }

private:
    friend class Program;

    Context context_;
    std::shared_ptr<const Compiled> compiled_;
    std::map<std::string, Kernel> kernels_;
};

/// Runs a text on arrays of fixed sizes. Only one thread at a time may use a program.
class Program {
public:
    /// Allocates a buffer of scratch memory.
    using MakeBuffer = std::function<DeviceBuffer(std::size_t bytes)>;

    /// Allocates scratch memory by `make`, or from the GPU if `make` is empty. The buffers that must be zero
    /// before the first launch become zero in the order of `queue`.
    ///
    ///   text     the loaded text of `emitted`
    ///
    /// Throws SpecError if a size is impossible, and DeviceError if the GPU does not allow a launch or memory
    /// does not suffice.
    Program(std::shared_ptr<const LoadedText> text, const Operator& op, const Emitted& emitted,
            const SegmentSizes& sizes, const MakeBuffer& make = {}, CUstream queue = nullptr);
    /// Compiles and loads a text, and binds the arrays of a workload, which must outlive the launches.
    Program(const Context& context, const ResidentWorkload& resident, const Emitted& emitted,
            CompileCache* cache = nullptr);

    /// Returns the arguments, to which arrays are bound; see BoundPlan. Scratch memory is bound already.
    [[nodiscard]] BoundPlan& arguments() { return bound_; }
    /// Returns the launches. Others may be added before them.
    [[nodiscard]] LaunchSequence& sequence() { return sequence_; }
    /// Queues all launches.
    void launch(CUstream stream);

    /// Fills scratch memory with a byte, except where kernels need zeros.
    void poison_scratch(std::uint8_t byte);
    [[nodiscard]] const std::shared_ptr<const LoadedText>& text() const { return text_; }
    /// Returns the compiler's report on each kernel, in launch order.
    [[nodiscard]] std::vector<KernelUse> kernels() const;

private:
    std::shared_ptr<const LoadedText> text_;
    BoundPlan bound_;
    LaunchSequence sequence_;
    std::vector<DeviceBuffer> scratch_;
};

}  // namespace segfold::cuda
