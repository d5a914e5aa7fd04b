//% use parts/tiles/tree_levels.cuh
// A thread loads all its vectors of a tile at once, each of kStepItems elements. One access moves up to 16
// bytes for each thread.
//% if commutative
// Thread t takes the vectors t, t + kBlockThreads, ...
//% else
// combine() need not commute, so the vectors of a thread lie side by side.
//% end
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index)
{
    constexpr int kVectors = kItemsPerThread / kStepItems;
    Items items[kVectors];
    Index positions[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k) {
        //% if commutative
        const int vector = k * kBlockThreads + threadIdx.x;
        //% else
        const int vector = threadIdx.x * kVectors + k;
        //% end
        positions[k] = begin + vector * kStepItems;
        items[k] = load_items(inputs, first + positions[k], int(min(end - positions[k], Index(kStepItems))));
    }
    State total = identity();
    #pragma unroll
    for (int k = 0; k < kVectors * kStepItems; ++k) {
        const int item = k % kStepItems;
        const Index position = positions[k / kStepItems] + item;
        if (position < end)
            total = combine(total, lift_item(inputs, items[k / kStepItems], item, first + position));
    }
    return total;
}

//% if whole && !atomic_totals
__device__ __forceinline__ State fold_partials(const State* partials, Index begin, Index end)
{
    State total = identity();
    for (int k = 0; k < kItemsPerThread; ++k) {
        //% if commutative
        const Index place = begin + k * kBlockThreads + threadIdx.x;
        //% else
        const Index place = begin + Index(threadIdx.x) * kItemsPerThread + k;
        //% end
        if (place < end)
            total = combine(total, partials[place]);
    }
    return total;
}
//% end
