//% use parts/segments/segment_extent.cuh
//% use parts/tiles/part_begin.cuh
// A rung whose blocks share a segment defines fold_share(). It folds the elements `begin` to `end` - 1 of the
// input, none if end <= begin, to thread 0 of a block. All threads call it; it ends with a barrier, so they
// may call it again. It may read elements before `there`, also of other shares.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there);

// Folds part `part` of a segment, which consists of neighbouring tiles, to thread 0 of a block.
__device__ __forceinline__ State fold_part(const Inputs& inputs, const Segments& segments, Index segment,
                                           int part, int num_parts)
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
    return fold_share(inputs, first + begin, first + end, there);
}
