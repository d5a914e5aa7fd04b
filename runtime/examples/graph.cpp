// An operator that does not commute, on a stream, inside a graph that is captured once and replayed.
#include <cuda_runtime.h>

#include <segfold/segfold.h>
#include <iostream>
#include <vector>

// Composition of x -> scale x + shift over unsigned 32-bit numbers: exact, and no two orders agree.
struct Map : segfold::State {
    Field<unsigned> scale{"scale", 1u}, shift{"shift", 0u};
};
const segfold::Operator compose = segfold::define<Map>("compose", [](auto& op) {
    segfold::Column<unsigned> scale(op, "scale"), shift(op, "shift");
    op.lift([&](Map& s) { s.scale = scale, s.shift = shift; });
    op.combine(
        [](Map a, Map b, Map& s) { s.scale = a.scale * b.scale, s.shift = a.shift * b.scale + b.shift; });
});

template <class T>
T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    cudaMalloc(&memory, values.size() * sizeof(T));
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyDefault);
    return memory;
}

int main()
{
    const int n = 1 << 20, segments = n / 16;
    std::vector<unsigned> values(n, 3), out(segments);
    std::vector<int> ends(segments + 1);
    for (int s = 0; s <= segments; ++s)
        ends[s] = 16 * s;
    const auto scale = segfold::on_device(to_device(values), n),
               shift = segfold::on_device(to_device(values), n);
    const auto d_ends = segfold::offsets(segfold::on_device(to_device(ends), segments + 1));
    auto *d_scale = to_device(out), *d_shift = to_device(out);
    segfold::Session session({.backend = "cuda"});
    auto plan = session.plan(compose, d_ends, n);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    plan.run({scale, shift}, d_ends,
             {segfold::on_device(d_scale, segments), segfold::on_device(d_shift, segments)}, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&replay, graph, 0);
    for (int i = 0; i < 1000; ++i)
        cudaGraphLaunch(replay, stream);
    cudaMemcpyAsync(out.data(), d_shift, segments * sizeof(unsigned), cudaMemcpyDefault, stream);
    std::cout << cudaGetErrorString(cudaStreamSynchronize(stream)) << ' ' << out.front() << ' ' << out.back()
              << '\n';
}
