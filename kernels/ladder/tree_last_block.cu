//% stage   tree_last_block
//% title   Blocks take many tiles, and the last one to come joins their totals in the same launch
//% after   tree_vector
//% source  NVIDIA, CUDA sample threadFenceReduction; CUDA C++ Programming Guide, memory fence functions
//% layout  whole, uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 16, 4, 8, 32
//% tune    blocks_per_multiprocessor = 8, 1, 2, 4, 16, 32
//% tune    blocks_per_segment = 2, 4, 8, 16
//% where   whole ? blocks_per_segment == 2 : blocks_per_multiprocessor == 8
//% use     parts/tiles/block_shares.cuh
//% use     parts/tiles/fold_share.cuh
