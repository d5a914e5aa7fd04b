//% stage   tree_vector
//% title   Threads read vectors of up to 16 bytes
//% after   tree_shuffle
//% source  Luitjens 2013, CUDA Pro Tip: Increase Performance with Vectorized Memory Access
//% layout  whole, uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 16, 4, 8, 32
//% tune    atomic_totals = 0, 1
//% where   !atomic_totals || (whole && atomic_combine)
//% use     parts/elements/take_vectors.cuh
//% use     parts/reduce/block_reduce.cuh

// Lanes exchange registers, in order, so combine() need not commute.
__device__ __forceinline__ State fold_block(State state)
{
    return block_reduce(state);
}
