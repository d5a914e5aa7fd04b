// Captures a fold with a non-commutative operator into a CUDA graph, and replays the graph on a stream.
#include <cuda_runtime.h>

#include <segfold/segfold.h>
#include <algorithm>
#include <iostream>

// Composes maps x -> scale x + shift of unsigned 32-bit integers. Results are exact and depend on order.
struct Map : segfold::State {
    Field<unsigned> scale{"scale", 1u}, shift{"shift", 0u};
};
const segfold::Operator compose = segfold::define<Map>("compose", [](auto& op) {
    segfold::Column<unsigned> scale(op, "scale"), shift(op, "shift");
    op.lift([&](Map& s) { s.scale = scale, s.shift = shift; });
    op.combine(
        [](Map a, Map b, Map& s) { s.scale = a.scale * b.scale, s.shift = a.shift * b.scale + b.shift; });
});

int main()
try {
    const int n = 1 << 20, segments = n / 16;
    segfold::Session session({.backend = "cuda"});
    auto plan = session.plan(compose, segfold::uniform(16), n);
    unsigned *values, *scale, *shift;
    cudaMallocManaged(&values, n * sizeof(unsigned));
    cudaMallocManaged(&scale, segments * sizeof(unsigned));
    cudaMallocManaged(&shift, segments * sizeof(unsigned));
    std::fill_n(values, n, 3u);
    const auto column = segfold::on_device(values, n);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    plan.run({column, column}, segfold::uniform(16),
             {segfold::on_device(scale, segments), segfold::on_device(shift, segments)}, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&replay, graph, 0);
    for (int i = 0; i < 1000; ++i)
        cudaGraphLaunch(replay, stream);
    std::cout << cudaGetErrorString(cudaStreamSynchronize(stream)) << ' ' << scale[0] << ' ' << shift[0]
              << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
