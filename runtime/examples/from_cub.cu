// Sums segments with CUB and with segfold, on the same arrays in device memory and the same stream.
#include <cub/device/device_segmented_reduce.cuh>

#include <segfold/segfold.h>
#include <iostream>

const int num_segments = 1 << 16, num_elements = 32 * num_segments;

void sum_by_cub(const float* values, const int* ends, float* sums, cudaStream_t stream)
{
    std::size_t bytes = 0;
    void* scratch = nullptr;
    cub::DeviceSegmentedReduce::Sum(scratch, bytes, values, sums, num_segments, ends, ends + 1, stream);
    cudaMallocAsync(&scratch, bytes, stream);
    cub::DeviceSegmentedReduce::Sum(scratch, bytes, values, sums, num_segments, ends, ends + 1, stream);
    cudaFreeAsync(scratch, stream);
}

void sum_by_segfold(const float* values, const int* ends, float* sums, cudaStream_t stream)
{
    segfold::Session session({.backend = "cuda"});
    const auto segments = segfold::offsets(segfold::on_device(ends, num_segments + 1));
    auto plan = session.plan(segfold::standard_operator("sum_f32"), segments, num_elements);
    plan.run({segfold::on_device(values, num_elements)}, segments, {segfold::on_device(sums, num_segments)},
             stream);
    cudaStreamSynchronize(stream);  // the plan's destructor frees memory that the kernels use
}

int main()
try {
    float *values = nullptr, *by_cub = nullptr, *by_segfold = nullptr;
    int* ends = nullptr;
    cudaStream_t stream = nullptr;
    if (cudaMallocManaged(&values, num_elements * sizeof(float)) != cudaSuccess ||
        cudaMallocManaged(&ends, (num_segments + 1) * sizeof(int)) != cudaSuccess ||
        cudaMallocManaged(&by_cub, num_segments * sizeof(float)) != cudaSuccess ||
        cudaMallocManaged(&by_segfold, num_segments * sizeof(float)) != cudaSuccess ||
        cudaStreamCreate(&stream) != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << '\n';
        return 3;
    }
    for (int i = 0; i < num_elements; ++i)
        values[i] = float(i % 17 - 8);
    for (int s = 0; s <= num_segments; ++s)
        ends[s] = 32 * s;
    sum_by_cub(values, ends, by_cub, stream);
    sum_by_segfold(values, ends, by_segfold, stream);
    int different = 0;
    for (int s = 0; s < num_segments; ++s)
        different += by_cub[s] != by_segfold[s];
    std::cout << num_segments << " sums, " << different << " of them different\n";
    return different == 0 ? 0 : 1;
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
