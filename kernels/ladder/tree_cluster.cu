//% stage   tree_cluster
//% title   Blocks of a cluster join their totals through each other's shared memory
//% after   tree_last_block
//% source  NVIDIA 2022, CUDA C++ Programming Guide 11.8, thread block clusters, distributed shared memory
//% layout  whole, uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment, cc >= 90
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 16, 4, 8, 32
//% tune    blocks_per_multiprocessor = 8, 1, 2, 4, 16, 32
//% tune    cluster_blocks = 2, 4, 8
//% where   whole || blocks_per_multiprocessor == 8
//% if whole
//% let     num_tiles = ceil_div(num_items, block_threads * items_per_thread)
//% let     most_blocks = min(num_tiles, num_multiprocessors * blocks_per_multiprocessor)
//% let     num_clusters = max(1, ceil_div(most_blocks, cluster_blocks))
//% scratch partials : State[num_clusters]
//% scratch tickets : unsigned[1] zero
//% use     parts/tiles/join_last.cuh
//% else
//% let     num_clusters = min(num_segments, num_multiprocessors * 8192)
//% end
//% launch  reduce  grid = num_clusters * cluster_blocks  block = block_threads
//% use     parts/tiles/fold_part.cuh
//% use     parts/reduce/cluster.cuh
//% use     parts/tiles/fold_share.cuh

// Joins the totals of the cluster's blocks in order, to thread 0 of the first block. Thread 0 of each block
// has the block's total. All threads of the cluster call it.
__device__ __forceinline__ State join_cluster(State total)
{
    __shared__ State of_block;
    const bool is_first = blockIdx.x % kClusterBlocks == 0;
    if (threadIdx.x == 0)
        of_block = total;
    wait_for_cluster();  // the totals of all blocks are written
    if (is_first && threadIdx.x < kWarpThreads)
        total = warp_reduce(threadIdx.x < kClusterBlocks ? *in_block(&of_block, threadIdx.x) : identity());
    wait_for_cluster();  // the totals have been read, so blocks may leave or write again
    return total;
}

//% if whole
// The whole input is one segment, which all blocks share. The first block of each cluster has the cluster's
// total, and the last of these blocks to come joins all totals.
extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1) __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* tickets)
{
    State total = join_cluster(fold_part(inputs, segments, 0, blockIdx.x, gridDim.x));
    if (blockIdx.x % kClusterBlocks != 0)
        return;
    const int cluster = blockIdx.x / kClusterBlocks;
    const int num_clusters = gridDim.x / kClusterBlocks;
    if (join_last(partials, tickets, cluster, num_clusters, total) && threadIdx.x == 0)
        store(results, 0, segments.num_items, total);
}
//% else
// A cluster takes one segment. If there are more segments than clusters, it goes on with every
// num_clusters-th segment. It needs no scratch memory.
extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1) __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const Index num_clusters = gridDim.x / kClusterBlocks;
    const int rank = blockIdx.x % kClusterBlocks;
    for (Index segment = blockIdx.x / kClusterBlocks; segment < segments.num_segments;
         segment += num_clusters) {
        const State total = join_cluster(fold_part(inputs, segments, segment, rank, kClusterBlocks));
        if (threadIdx.x == 0 && rank == 0)
            store(results, segment, segment_length(segments, segment), total);
    }
}
//% end
