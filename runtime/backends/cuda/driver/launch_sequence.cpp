#include "runtime/backends/cuda/driver/launch_sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dsl/error.h"

namespace segfold::cuda {

struct LaunchSequence::Step {
    Kernel kernel;
    LaunchShape shape;
    void** arguments;
    std::vector<std::size_t> sizes;
    /// The argument bytes that the graph's node has now.
    std::vector<std::byte> passed = {};
    CUgraphNode node = nullptr;

    [[nodiscard]] CUkernelNodeParams parameters() const
    {
        const auto narrow = [](std::uint64_t value) { return static_cast<unsigned>(value); };
        CUkernelNodeParams parameters = {};
        parameters.func = kernel.handle();
        parameters.gridDimX = narrow(shape.grid.x);
        parameters.gridDimY = narrow(shape.grid.y);
        parameters.gridDimZ = narrow(shape.grid.z);
        parameters.blockDimX = narrow(shape.block.x);
        parameters.blockDimY = narrow(shape.block.y);
        parameters.blockDimZ = narrow(shape.block.z);
        parameters.sharedMemBytes = narrow(shape.dynamic_shared_bytes);
        parameters.kernelParams = arguments;
        return parameters;
    }

    /// Saves the current argument values. Returns true if they have changed.
    bool take_arguments()
    {
        bool has_changed = false;
        std::size_t place = 0;
        for (std::size_t i = 0; i < sizes.size(); place += sizes[i++]) {
            if (std::memcmp(passed.data() + place, arguments[i], sizes[i]) == 0)
                continue;
            std::memcpy(passed.data() + place, arguments[i], sizes[i]);
            has_changed = true;
        }
        return has_changed;
    }
};

struct LaunchSequence::Graph {
    Graph() { check(driver().cuGraphCreate(&graph, 0), "cuGraphCreate"); }
    ~Graph()
    {
        if (executable != nullptr)
            driver().cuGraphExecDestroy(executable);
        driver().cuGraphDestroy(graph);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
};

LaunchSequence::LaunchSequence(const Context& context) : context_(context) {}

LaunchSequence::~LaunchSequence()
{
    try {
        const CurrentContext current(context_);
        graph_.reset();
    } catch (const DeviceError&) {
        // If a kernel's failure has ended the context, the graphs are already gone.
    }
}

void LaunchSequence::add(Kernel kernel, const LaunchShape& shape, void** arguments,
                         std::span<const std::size_t> sizes)
{
    kernel.check_arguments(sizes);
    kernel.allow(shape);
    std::size_t bytes = 0;
    for (const auto size : sizes)
        bytes += size;
    steps_.push_back({std::move(kernel), shape, arguments, {sizes.begin(), sizes.end()}});
    steps_.back().passed.resize(bytes);
}

void LaunchSequence::add_first(Kernel kernel, const LaunchShape& shape, void** arguments,
                               std::span<const std::size_t> sizes)
{
    add(std::move(kernel), shape, arguments, sizes);
    std::ranges::rotate(steps_, steps_.end() - 1);
}

void LaunchSequence::prepare()
{
    const auto& api = driver();
    if (steps_.size() < 2 || !api.cuGraphAddKernelNode || !api.cuGraphInstantiate ||
        !api.cuGraphExecKernelNodeSetParams || !api.cuGraphUpload)
        return;
    const CurrentContext current(context_);
    auto graph = std::make_unique<Graph>();
    CUgraphNode before = nullptr;
    for (auto& step : steps_) {
        const auto parameters = step.parameters();
        check(api.cuGraphAddKernelNode(&step.node, graph->graph, &before, before != nullptr ? 1 : 0,
                                       &parameters),
              "cuGraphAddKernelNode");
        step.take_arguments();
        before = step.node;
    }
    check(api.cuGraphInstantiate(&graph->executable, graph->graph, 0), "cuGraphInstantiate");
    check(api.cuGraphUpload(graph->executable, nullptr), "cuGraphUpload");
    graph_ = std::move(graph);
}

bool is_captured(CUstream stream)
{
    constexpr int kNotCaptured = 0;
    int capture = kNotCaptured;
    return driver().cuStreamIsCapturing(stream, &capture) == CUresult::success && capture != kNotCaptured;
}

void LaunchSequence::run(CUstream stream)
{
    if (!graph_ || is_captured(stream)) {
        for (const auto& step : steps_)
            step.kernel.queue(stream, step.shape, step.arguments);
        return;
    }
    update();
    check(driver().cuGraphLaunch(graph_->executable, stream), "cuGraphLaunch");
}

void LaunchSequence::update()
{
    for (auto& step : steps_) {
        if (!step.take_arguments())
            continue;
        const auto parameters = step.parameters();
        check(driver().cuGraphExecKernelNodeSetParams(graph_->executable, step.node, &parameters),
              "cuGraphExecKernelNodeSetParams");
    }
}

}  // namespace segfold::cuda
