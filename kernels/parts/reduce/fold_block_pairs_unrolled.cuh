// Folds the threads' states in a tree of neighbours, with all rounds unrolled. The rounds of a single warp
// need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll
    for (int pairs = kBlockThreads / 2; pairs > kWarpThreads; pairs /= 2) {
        const bool takes_part = int(threadIdx.x) < pairs;
        if (takes_part)
            state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
        __syncthreads();  // all threads have read
        if (takes_part)
            tile[threadIdx.x] = state;
        __syncthreads();  // the round is over
    }
    if (threadIdx.x < kWarpThreads) {
        #pragma unroll
        for (int pairs = kWarpThreads; pairs > 0; pairs /= 2) {
            const bool takes_part = int(threadIdx.x) < pairs;
            if (takes_part)
                state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
            __syncwarp();  // all lanes have read
            if (takes_part)
                tile[threadIdx.x] = state;
            __syncwarp();  // the round is over
        }
    }
    return state;  // not tile[0]: compilers let all warps read it while this warp writes
}
