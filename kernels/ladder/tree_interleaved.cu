//% stage   tree_interleaved
//% title   The same tree; consecutive threads do the work
//% after   tree_interleaved_modulo
//% source  Harris 2007, kernel 2; Zuo, Zhang, Xu & Zhao 2009, code 2; Patel 2014, version 2
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
//% tune    atomic_totals = 0, 1
//% where   block_threads * state_bytes <= 49152
//% where   !atomic_totals || (whole && atomic_combine)
//% if commutative
//% use     parts/elements/take_strided.cuh
//% else
//% use     parts/elements/take_consecutive.cuh
//% end

// In round r, thread t joins the states at t * 2^(r+1) and 2^r behind it. Whole warps drop out, and no
// remainder is computed. But the threads of a warp now read places that are powers of two apart, which lie in
// few banks.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
    for (int stride = 1; stride < kBlockThreads; stride *= 2) {
        const int place = 2 * stride * int(threadIdx.x);
        if (place < kBlockThreads)
            tile[place] = combine(tile[place], tile[place + stride]);
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
