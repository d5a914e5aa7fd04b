//% use parts/tiles/tree_levels.cuh
// Thread t takes kItemsPerThread consecutive elements of a tile, so combine() need not commute.
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment)
{
    State total = identity();
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index position = begin + Index(threadIdx.x) * kItemsPerThread + k;
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
        const Index place = begin + Index(threadIdx.x) * kItemsPerThread + k;
        if (place < end)
            total = combine(total, partials[place]);
    }
    return total;
}
//% end
