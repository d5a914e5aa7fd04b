//% stage   tree_interleaved_modulo
//% title   A tree of neighbours in shared memory; threads are picked by a remainder
//% source  Harris 2007, kernel 1; Zuo, Zhang, Xu & Zhao 2009, code 1; Patel 2014, version 1
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

// In round r, a thread whose number is a multiple of 2^(r+1) joins the state 2^r behind its own. These
// threads are spread over many warps, so most warps stay busy although few threads work. And a remainder
// takes many instructions. Neighbours are joined in order, so combine() need not commute.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
    for (int stride = 1; stride < kBlockThreads; stride *= 2) {
        if (int(threadIdx.x) % (2 * stride) == 0)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
