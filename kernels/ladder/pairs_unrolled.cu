//% stage   pairs_unrolled
//% title   All rounds are unrolled, in order
//% after   pairs_last_warp
//% source  Keeps the order that Harris 2007, kernel 6, gives up
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 384
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 2, 1
//% tune    atomic_totals = 0
//% where   block_threads * state_bytes <= 49152
//% use     parts/elements/take_consecutive.cuh
//% use     parts/reduce/fold_block_pairs_unrolled.cuh
