//% stage   tree_shuffle
//% title   Warps fold by shuffles, shared memory holds one state a warp
//% after   tree_cascade
//% source  Butz 2025, kernel 7; Harris 2007 for the rest
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 8, 1, 2, 4, 16, 20, 21, 22, 23, 24, 25, 26, 32, 64, 128, 256, 512, 1024
//% tune    atomic_totals = 0, 1
//% where   !atomic_totals || (whole && atomic_combine)
//% if commutative
//% use     parts/elements/take_strided.cuh
//% else
//% use     parts/elements/take_consecutive.cuh
//% end
//% use     parts/reduce/block_reduce.cuh

// Lanes exchange registers, in order, so combine() need not commute.
__device__ __forceinline__ State fold_block(State state)
{
    return block_reduce(state);
}
