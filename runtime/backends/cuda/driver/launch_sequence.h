#pragma once
// Launches that are queued together, again and again: one call of the driver for all of them.
#include <memory>
#include <span>
#include <vector>

#include "runtime/backends/cuda/driver/module.h"

namespace segfold::cuda {

/// Kernels that run one after the other, with arguments that change between runs.
///
/// Two kernels or more become a CUDA graph, so that a run costs the host about as much as one launch. A graph
/// cannot be launched into a stream that is being captured, and drivers before CUDA 12 take no kernels of
/// libraries into one: there the kernels are launched one by one.
class LaunchSequence {
public:
    explicit LaunchSequence(const Context& context);
    ~LaunchSequence();
    LaunchSequence(const LaunchSequence&) = delete;
    LaunchSequence& operator=(const LaunchSequence&) = delete;

    /// Appends a kernel.
    ///
    ///   arguments  addresses of its arguments, which outlive the sequence; each run passes their values
    ///   sizes      their bytes
    ///
    /// Throws DeviceError for a shape that the device cannot have, InternalError for arguments that are not
    /// the kernel's.
    void add(Kernel kernel, const LaunchShape& shape, void** arguments, std::span<const std::size_t> sizes);
    /// Makes a graph of the kernels and has the driver prepare it; waits for nothing.
    void prepare();

    /// Queues all kernels. The context must be current. Allocates nothing and waits for nothing; one thread
    /// at a time, and one stream until its queue is done.
    void run(CUstream stream);
    /// The same, one launch for each kernel.
    void run_apart(CUstream stream);

    [[nodiscard]] bool empty() const { return steps_.empty(); }

private:
    struct Step;
    struct Graph;
    void update();

    Context context_;
    std::vector<Step> steps_;
    std::unique_ptr<Graph> graph_;  ///< null: launches one by one
};

}  // namespace segfold::cuda
