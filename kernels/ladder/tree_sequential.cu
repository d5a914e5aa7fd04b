//% stage   tree_sequential
//% title   A tree whose threads read neighbouring places
//% after   tree_interleaved
//% source  Harris 2007, kernel 3; Zuo, Zhang, Xu & Zhao 2009, code 3; Patel 2014, version 3
//% layout  whole, uniform, offsets, ranges
//% needs   associative, commutative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
//% tune    atomic_totals = 0, 1
//% where   block_threads * state_bytes <= 49152
//% where   !atomic_totals || (whole && atomic_combine)
//% use     parts/elements/take_strided.cuh
//% use     parts/reduce/fold_block_sequential.cuh
