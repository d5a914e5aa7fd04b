//% stage   tree_first_add
//% title   Threads join two elements as they read them
//% after   tree_sequential
//% source  Harris 2007, kernel 4; Patel 2014, version 4
//% layout  whole, uniform, offsets, ranges
//% needs   associative, commutative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 2
//% tune    atomic_totals = 0
//% where   block_threads * state_bytes <= 49152
//% use     parts/elements/take_strided.cuh
//% use     parts/reduce/fold_block_sequential.cuh
