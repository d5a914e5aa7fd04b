//% use parts/segment_extent.cuh
//% use parts/part_begin.cuh
//% use parts/join_last.cuh
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

// What makes the rung. fold_share() folds the elements of the input from `begin` to `end`, none where the end
// comes first, to thread 0 of a block; all threads call it, and its last barrier lets them call it again.
// Elements up to `there` may be read, be they of another share.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there);

// Folds part `part` of a segment, whole tiles that lie side by side; the last of the blocks that share the
// segment stores the total of all.
__device__ __forceinline__ void reduce_part(const Inputs& inputs,
                                            const Segments& segments,
                                            const Results& results,
                                            State* partials,
                                            unsigned* ticket,
                                            Index segment,
                                            int part,
                                            int num_parts)
{
    constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    const Index num_tiles = (length + kTileItems - 1) / kTileItems;
    const Index begin = part_begin(num_tiles, part, num_parts) * kTileItems;
    const Index end = min(part_begin(num_tiles, part + 1, num_parts) * kTileItems, length);
    //% if ranges
    const Index there = first + end;
    //% else
    const Index there = segments.num_items;
    //% end
    State total = fold_share(inputs, first + begin, first + end, there);
    if (join_last(partials, ticket, part, num_parts, total) && threadIdx.x == 0)
        store(results, segment, length, total);
}

//% if whole
// All blocks share the one segment.
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
// kBlocksPerSegment neighbouring blocks share a segment, or every so many of them where there are more
// segments than the grid has room for. Each segment has partials and a ticket of its own, so no block waits
// for another.
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
