//% stage   tree_redux
//% title   Warps fold integers of 32 bits by one instruction
//% after   tree_vector
//% source  NVIDIA 2020, CUDA C++ Programming Guide 11.0, warp reduce functions
//% layout  whole, uniform, offsets, ranges
//% needs   associative, redux_combine, element_bytes > 0, !uses_position, !uses_segment
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 16, 4, 8, 32
//% tune    atomic_totals = 0, 1
//% where   !atomic_totals || whole
//% use     parts/elements/take_vectors.cuh
//% if !async_copies
//% use     parts/reduce/block_reduce.cuh
//% end

//% if async_copies
// One instruction folds a warp's lanes, instead of five shuffles and five combine(). GPUs that have this
// instruction have asynchronous copies too.
__device__ __forceinline__ State fold_block(State state)
{
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    __shared__ State totals[kWarps];
    const State total = redux(state);
    if (threadIdx.x % kWarpThreads == 0)
        totals[threadIdx.x / kWarpThreads] = total;
    __syncthreads();  // the totals of all warps are written
    if (threadIdx.x < kWarpThreads)
        return redux(threadIdx.x < kWarps ? totals[threadIdx.x] : identity());
    return state;
}
//% else
// The GPU has no instruction that folds a warp's lanes, so lanes exchange registers.
__device__ __forceinline__ State fold_block(State state)
{
    return block_reduce(state);
}
//% end
