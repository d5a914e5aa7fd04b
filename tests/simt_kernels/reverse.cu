// Each block reverses its tile through dynamic shared memory.
extern "C" __global__ void reverse(const int* __restrict__ values, int* reversed)
{
    extern __shared__ int tile[];
    const unsigned base = blockIdx.x * blockDim.x;
    tile[threadIdx.x] = values[base + threadIdx.x];
    __syncthreads();  // the tile is there
    reversed[base + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
