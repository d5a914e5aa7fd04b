//% use parts/tiles/fold_part.cuh
//% use parts/reduce/block_reduce.cuh
//% if commutative
// Thread t takes the vectors t, t + kBlockThreads, ... of each tile, and joins the vectors of all tiles
// before the block's tree begins.
//% else
//% use parts/elements/fold_consecutive.cuh
// combine() need not commute: a warp takes its own share of neighbouring chunks, and joins its lanes once a
// chunk.
//% end
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index)
{
    State total = identity();
    //% if commutative
    constexpr int kVectors = kItemsPerThread / kStepItems;
    for (Index tile = begin; tile < end; tile += kBlockThreads * kItemsPerThread) {
        Items items[kVectors];
        #pragma unroll
        for (int k = 0; k < kVectors; ++k) {
            const Index index = tile + (k * kBlockThreads + threadIdx.x) * kStepItems;
            items[k] = load_items(inputs, index, int(min(end - index, Index(kStepItems))));
        }
        #pragma unroll
        for (int k = 0; k < kVectors * kStepItems; ++k) {
            const int item = k % kStepItems;
            const Index index = tile + (k / kStepItems * kBlockThreads + threadIdx.x) * kStepItems + item;
            if (index < end)
                total = combine(total, lift_item(inputs, items[k / kStepItems], item, index));
        }
    }
    //% else
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kChunk = kItemsPerThread * kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const Index num_chunks = begin < end ? (end - begin + kChunk - 1) / kChunk : 0;
    const Index last = min(begin + part_begin(num_chunks, warp + 1, kWarps) * kChunk, end);
    for (Index chunk = begin + part_begin(num_chunks, warp, kWarps) * kChunk; chunk < last; chunk += kChunk) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = warp_reduce(fold_consecutive(inputs, mine, 0, 0, last - mine));
        // The totals of other lanes stay the identity, so that the block joins the warps' shares in order.
        if (lane == 0)
            total = combine(total, part);
    }
    //% end
    return block_reduce(total);
}
