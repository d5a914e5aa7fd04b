#pragma once
// A sequence of kernel launches that a single driver call queues, any number of times.
#include <memory>
#include <span>
#include <vector>

#include "runtime/backends/cuda/driver/module.h"

namespace segfold::cuda {

/// True if the stream is being captured. Queued work then becomes part of a graph that runs later, any number
/// of times.
[[nodiscard]] bool is_captured(CUstream stream);

/// Kernels that run in a fixed order. Their arguments may change between runs.
///
/// Two or more kernels become a CUDA graph, so that a run costs the host about as much as one launch. Kernels
/// are launched one by one on a captured stream, which cannot launch a graph. They are also launched one by
/// one by drivers before CUDA 12, whose graphs take no kernels of libraries.
class LaunchSequence {
public:
    explicit LaunchSequence(const Context& context);
    ~LaunchSequence();
    LaunchSequence(const LaunchSequence&) = delete;
    LaunchSequence& operator=(const LaunchSequence&) = delete;

    /// Appends a kernel.
    ///
    ///   arguments  addresses of the arguments; every run reads them, so they must stay valid
    ///   sizes      the arguments' sizes in bytes
    ///
    /// Throws DeviceError if the device does not allow the shape, and InternalError if the arguments do not
    /// fit the kernel.
    void add(Kernel kernel, const LaunchShape& shape, void** arguments, std::span<const std::size_t> sizes);
    /// Puts a kernel before all others, in the same way.
    void add_first(Kernel kernel, const LaunchShape& shape, void** arguments,
                   std::span<const std::size_t> sizes);
    /// Builds the graph of the added kernels and uploads it, without a wait.
    void prepare();

    /// Queues all kernels, without allocating or waiting. The context must be current. Only one thread at a
    /// time may call it. Another stream may be used only after the queued work is done.
    void run(CUstream stream);

    [[nodiscard]] bool empty() const { return steps_.empty(); }

private:
    struct Step;
    struct Graph;
    void update();

    Context context_;
    std::vector<Step> steps_;
    std::unique_ptr<Graph> graph_;  ///< null if kernels are launched one by one
};

}  // namespace segfold::cuda
