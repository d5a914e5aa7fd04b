//% use parts/tiles/tree_levels.cuh
// Thread t takes the elements t, t + kBlockThreads, ... of a tile, so neighbouring threads read neighbours.
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment)
{
    State total = identity();
    if (kItemsPerThread > 1 && end - begin >= kTileItems) {  // a whole tile: many loads at once
        #pragma unroll 16
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index position = begin + k * kBlockThreads + threadIdx.x;
            total = combine(total, load_item(inputs, first + position, position, segment));
        }
        return total;
    }
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index position = begin + k * kBlockThreads + threadIdx.x;
        if (position < end)
            total = combine(total, load_item(inputs, first + position, position, segment));
    }
    return total;
}

//% if whole && !atomic_totals
__device__ __forceinline__ State fold_partials(const State* partials, Index begin, Index end)
{
    State total = identity();
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index place = begin + k * kBlockThreads + threadIdx.x;
        if (place < end)
            total = combine(total, partials[place]);
    }
    return total;
}
//% end
