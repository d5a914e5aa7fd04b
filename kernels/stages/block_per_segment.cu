//% stage   block_per_segment
//% title   One block reduces one segment
//% after   warp_per_segment
//% source  Harris 2007, applied to each segment
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% tune    block_threads = 512, 64, 128, 256
//% tune    items_per_thread = 4, 1, 2, 8
//% launch  reduce  grid = min(num_segments, num_multiprocessors * 32)  block = block_threads
//% use     parts/segment_extent.cuh
//% use     parts/block_reduce.cuh

// A block takes every gridDim.x-th segment.
//% if commutative
// Thread t takes the elements t, t + kBlockThreads, ... of the segment, kItemsPerThread of them at once.
//% else
// combine() need not commute: each warp takes one contiguous share of the segment and walks it in chunks,
// in which a lane folds kItemsPerThread consecutive elements. The warps' totals are joined in the order of
// their shares.
//% end
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    for (Index segment = blockIdx.x; segment < segments.num_segments; segment += gridDim.x) {
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = identity();
        //% if commutative
        Index position = threadIdx.x;
        constexpr int kStride = kItemsPerThread * kBlockThreads;
        for (; position + kStride - kBlockThreads < length; position += kStride) {
            State items[kItemsPerThread];
            #pragma unroll
            for (int k = 0; k < kItemsPerThread; ++k) {
                const Index place = position + k * kBlockThreads;
                items[k] = load_item(inputs, first + place, place, segment);
            }
            #pragma unroll
            for (int k = 0; k < kItemsPerThread; ++k)
                total = combine(total, items[k]);
        }
        for (; position < length; position += kBlockThreads)
            total = combine(total, load_item(inputs, first + position, position, segment));
        //% else
        constexpr int kWarps = kBlockThreads / kWarpThreads;
        constexpr int kChunk = kItemsPerThread * kWarpThreads;
        const int lane = threadIdx.x % kWarpThreads;
        const Index share = (length / kChunk + kWarps) / kWarps * kChunk;  // whole chunks, enough for all
        const Index begin = min(share * (threadIdx.x / kWarpThreads), length);
        const Index end = min(begin + share, length);
        for (Index chunk = begin; chunk < end; chunk += kChunk) {
            const Index mine = chunk + lane * kItemsPerThread;
            State part = identity();
            #pragma unroll
            for (int k = 0; k < kItemsPerThread; ++k)
                if (mine + k < end)
                    part = combine(part, load_item(inputs, first + mine + k, mine + k, segment));
            part = warp_reduce(part);
            // The other lanes' totals stay the identity, so that the block's order is the shares'.
            if (lane == 0)
                total = combine(total, part);
        }
        //% end

        total = block_reduce(total);
        if (threadIdx.x == 0)
            store(results, segment, length, total);
    }
}
