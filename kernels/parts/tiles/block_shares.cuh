//% use parts/tiles/fold_part.cuh
//% use parts/tiles/join_last.cuh
//% if whole
//% let tile_items = block_threads * items_per_thread
//% let num_tiles = ceil_div(num_items, tile_items)
//% let num_blocks = max(1, min(num_tiles, num_multiprocessors * blocks_per_multiprocessor))
//% scratch partials : State[num_blocks]
//% scratch tickets : unsigned[1] zero
//% launch reduce grid = num_blocks  block = block_threads
//% else
//% let num_teams = min(num_segments, num_multiprocessors * 8192)
//% scratch partials : State[num_segments * blocks_per_segment]
//% scratch tickets : unsigned[num_segments] zero
//% launch reduce grid = num_teams * blocks_per_segment  block = block_threads
//% end

// Folds part `part` of a segment. The last of the blocks that share the segment stores its total.
__device__ __forceinline__ void reduce_part(const Inputs& inputs,
                                            const Segments& segments,
                                            const Results& results,
                                            State* partials,
                                            unsigned* ticket,
                                            Index segment,
                                            int part,
                                            int num_parts)
{
    State total = fold_part(inputs, segments, segment, part, num_parts);
    if (join_last(partials, ticket, part, num_parts, total) && threadIdx.x == 0)
        store(results, segment, segment_length(segments, segment), total);
}

//% if whole
// The whole input is one segment, which all blocks share.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* tickets)
{
    reduce_part(inputs, segments, results, partials, tickets, 0, blockIdx.x, gridDim.x);
}
//% else
// kBlocksPerSegment neighbouring blocks share a segment. If the grid has no room for all segments, they go on
// with every num_teams-th segment. Each segment has its own partials and ticket, so no block waits for
// another.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* tickets)
{
    const Index num_teams = gridDim.x / kBlocksPerSegment;
    for (Index segment = blockIdx.x / kBlocksPerSegment; segment < segments.num_segments;
         segment += num_teams)
        reduce_part(inputs, segments, results, partials + (long long)segment * kBlocksPerSegment,
                    tickets + segment, segment, blockIdx.x % kBlocksPerSegment, kBlocksPerSegment);
}
//% end
