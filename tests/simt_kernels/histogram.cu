// Counts values by their lowest bits, first in shared memory, then over the grid.
extern "C" __global__ void histogram(const unsigned* __restrict__ values, unsigned* counts, int count)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();  // the bins are empty
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i] % 16], 1u);
    __syncthreads();  // the block has counted
    if (threadIdx.x < 16)
        atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
