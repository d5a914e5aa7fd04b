// One block sums tile after tile of blockDim.x values by a tree in shared memory.
extern "C" __global__ void block_reduce(const unsigned* __restrict__ values, unsigned* sums, int tiles)
{
    __shared__ unsigned tree[256];
    unsigned total = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        tree[threadIdx.x] = values[(blockIdx.x * tiles + tile) * blockDim.x + threadIdx.x];
        __syncthreads();  // the tile is there
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                tree[threadIdx.x] += tree[threadIdx.x + half];
            __syncthreads();  // this level is done
        }
        total += tree[0];
        __syncthreads();  // everybody has the sum
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}
