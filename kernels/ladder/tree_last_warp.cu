//% stage   tree_last_warp
//% title   The last six rounds are one warp's, unrolled
//% after   tree_first_add
//% source  Harris 2007, kernel 5; Patel 2014, version 5
//% layout  whole, uniform, offsets, ranges
//% needs   associative, commutative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 2
//% tune    atomic_totals = 0, 1
//% where   block_threads * state_bytes <= 49152
//% where   !atomic_totals || (whole && atomic_combine)
//% use     parts/elements/take_strided.cuh

// The rounds of 32 threads and fewer need no barrier of the block. Nor do they test which threads take part:
// nobody reads the states that the other lanes join. The papers' warps ran in step; today's need a barrier of
// the warp.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
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
