// Folds the threads' states in a tree. The number of threads is a constant of the text, so all rounds are
// unrolled. The rounds of a single warp need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll
    for (int stride = kBlockThreads / 2; stride > kWarpThreads; stride /= 2) {
        if (int(threadIdx.x) < stride)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    if (threadIdx.x < kWarpThreads) {
        #pragma unroll
        for (int stride = kWarpThreads; stride > 0; stride /= 2) {
            const State later = tile[threadIdx.x + stride];
            __syncwarp();  // all lanes have read
            state = combine(tile[threadIdx.x], later);
            tile[threadIdx.x] = state;
            __syncwarp();  // the round is over
        }
    }
    return state;  // not tile[0]: compilers let all warps read it while this warp writes
}
