// Each block sums a tile; the block that finishes last sums the blocks' sums.
extern "C" __global__ void last_block(const unsigned* __restrict__ values, unsigned* partials, unsigned* finished,
                                      unsigned* result)
{
    __shared__ unsigned sums[4];
    __shared__ bool is_last;
    unsigned sum = __reduce_add_sync(0xffffffffu, values[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();  // all warps' sums are there
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
        __threadfence();  // the partial is seen before the count
        is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // everybody knows whether this is the last block
    if (!is_last)
        return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        sum += partials[i];
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();  // all warps' sums are there
    if (threadIdx.x == 0)
        *result = sums[0] + sums[1] + sums[2] + sums[3];
}
