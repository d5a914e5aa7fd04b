// The number of threads is known when the text is compiled, so all rounds are unrolled, and those of one warp
// need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are there
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
    return state;  // not read once more: compilers let all warps do so, while this one writes
}
