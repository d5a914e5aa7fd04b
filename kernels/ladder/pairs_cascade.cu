//% stage   pairs_cascade
//% title   Threads join many consecutive elements before the tree begins
//% after   pairs_unrolled
//% source  Zuo, Zhang, Xu & Zhao 2009, code 5; keeps the order that Harris 2007, kernel 7, gives up
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 8, 1, 2, 4, 16, 20, 21, 22, 23, 24, 25, 26, 32, 64, 128, 256, 512, 1024
//% tune    atomic_totals = 0
//% where   block_threads * state_bytes <= 49152
//% use     parts/elements/take_consecutive.cuh
//% use     parts/reduce/fold_block_pairs_unrolled.cuh
