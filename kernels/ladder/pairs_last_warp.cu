//% stage   pairs_last_warp
//% title   The last six rounds are one warp's, in order
//% after   pairs_first_add
//% source  Keeps the order that Harris 2007, kernel 5, gives up
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 2
//% tune    atomic_totals = 0
//% where   block_threads * state_bytes <= 49152
//% use     parts/elements/take_consecutive.cuh

// The rounds of 32 pairs and fewer belong to one warp, so they need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
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
