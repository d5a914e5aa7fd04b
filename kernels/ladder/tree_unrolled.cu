//% stage   tree_unrolled
//% title   All rounds are unrolled
//% after   tree_last_warp
//% source  Harris 2007, kernel 6; Zuo, Zhang, Xu & Zhao 2009, code 4
//% layout  whole, uniform, offsets, ranges
//% needs   associative, commutative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 2, 1
//% tune    atomic_totals = 0
//% where   block_threads * state_bytes <= 49152
//% use     parts/elements/take_strided.cuh
//% use     parts/reduce/fold_block_unrolled.cuh
