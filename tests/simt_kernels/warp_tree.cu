// Each warp sums 32 values by a tree in its part of shared memory.
extern "C" __global__ void warp_tree(const unsigned* __restrict__ values, unsigned* sums)
{
    __shared__ unsigned tree[64];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    tree[threadIdx.x] = values[i];
    __syncwarp();  // the leaves are there
    for (unsigned half = 16; half > 0; half /= 2) {
        if (lane < half)
            tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncwarp();  // this level is done
    }
    if (lane == 0)
        sums[i / 32] = tree[threadIdx.x];
}
