#pragma once
// Compiles and loads an emitted text on a GPU, binds its kernels to arrays, and launches them.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "runtime/backends/bound_plan.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/driver/launch_sequence.h"
#include "runtime/backends/cuda/driver/module.h"

namespace segfold::cuda {

/// Returns the compile request for a text, with the names of its kernels.
[[nodiscard]] Variant variant_of(const DeviceInfo& gpu, const Emitted& emitted);
[[nodiscard]] Variant variant_of(const std::string& architecture, const Emitted& emitted);

/// Returns the compile requests for several texts.
[[nodiscard]] std::vector<CompileRequest> requests_of(const DeviceInfo& gpu, std::span<const Emitted> texts);

/// A text that is compiled for a GPU and loaded there. Copies share it.
struct LoadedText {
    std::shared_ptr<const Compiled> compiled;
    Module module;
};

/// Compiles and loads a text. If `cache` is null, the image is kept only on disk. If the text does not
/// compile or load, throws DeviceError that names lines of the stage's file.
[[nodiscard]] LoadedText load(const Context& context, const Emitted& emitted, CompileCache* cache = nullptr);

/// The kernels of a loaded text with their arguments, for workloads of one size.
///
/// It owns no device memory. The caller passes addresses of scratch memory and arrays, and binding only
/// writes these addresses.
class Program {
public:
    /// A kernel and its launch.
    struct Step {
        Kernel kernel;
        LaunchShape shape;
    };

    /// Throws SpecError if a size is impossible, and DeviceError if the GPU does not allow a launch.
    Program(const LoadedText& text, const Operator& op, const Emitted& emitted, const SegmentSizes& sizes,
            int num_multiprocessors);

    /// Binds scratch memory. `take` returns the address of each buffer. Buffers with ScratchBuffer::zero must
    /// be zero before the first launch.
    void bind_scratch(const std::function<std::uint64_t(std::size_t place, const ScratchBuffer&)>& take);
    /// Returns the arguments, for binding arrays; see BoundPlan.
    [[nodiscard]] BoundPlan& arguments() { return bound_; }

    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
    /// Queues all kernels.
    void launch(CUstream stream);
    /// Appends all kernels to a sequence, which must not outlive the program.
    void add_to(LaunchSequence& sequence);

private:
    BoundPlan bound_;
    std::vector<Step> steps_;
};

}  // namespace segfold::cuda
