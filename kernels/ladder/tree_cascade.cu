//% stage   tree_cascade
//% title   Threads join many elements before the tree begins
//% after   tree_unrolled
//% source  Harris 2007, kernel 7, after Brent 1974; Zuo, Zhang, Xu & Zhao 2009, code 6
//% layout  whole, uniform, offsets, ranges
//% needs   associative, commutative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 8, 1, 2, 4, 16, 20, 21, 22, 23, 24, 25, 26, 32, 64, 128, 256, 512, 1024
//% tune    atomic_totals = 0, 1
//% where   block_threads * state_bytes <= 49152
//% where   !atomic_totals || (whole && atomic_combine)
//% use     parts/elements/take_strided.cuh
//% use     parts/reduce/fold_block_unrolled.cuh
