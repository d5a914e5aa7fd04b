#pragma once
// A sequence of kernel launches that one driver call queues, any number of times.
#include <memory>
#include <span>
#include <vector>

#include "runtime/backends/cuda/driver/module.h"

namespace segfold::cuda {

/// True if the stream is being captured: work queued on it then becomes part of a graph that runs later, any
/// number of times.
[[nodiscard]] bool is_captured(CUstream stream);

/// Kernels that run in a fixed order. Their arguments may change between runs.
///
/// Two or more kernels become a CUDA graph, so a run costs the host about as much as one launch. Kernels are
/// launched one by one if the stream is being captured, because such a stream cannot launch a graph. Drivers
/// before CUDA 12 also launch kernels one by one: their graphs take no kernels of libraries.
class LaunchSequence {
public:
    explicit LaunchSequence(const Context& context);
    ~LaunchSequence();
    LaunchSequence(const LaunchSequence&) = delete;
    LaunchSequence& operator=(const LaunchSequence&) = delete;

    /// Appends a kernel.
    ///
    ///   arguments  addresses of the arguments, valid as long as the sequence; a run reads them
    ///   sizes      the arguments' sizes in bytes
    ///
    /// Throws DeviceError if the device does not allow the shape, InternalError if the arguments do not fit
    /// the kernel.
    void add(Kernel kernel, const LaunchShape& shape, void** arguments, std::span<const std::size_t> sizes);
    /// Builds the graph of the added kernels and uploads it. Waits for nothing.
    void prepare();

    /// Queues all kernels. The context must be current. Allocates nothing and waits for nothing. For use by
    /// one thread at a time, and with one stream until the queued work is done.
    void run(CUstream stream);
    /// Queues all kernels as single launches.
    void run_apart(CUstream stream);

    [[nodiscard]] bool empty() const { return steps_.empty(); }

private:
    struct Step;
    struct Graph;
    void update();

    Context context_;
    std::vector<Step> steps_;
    std::unique_ptr<Graph> graph_;  ///< null: kernels are launched one by one
};

}  // namespace segfold::cuda
