//% stage   block_per_segment
//% title   One block reduces one segment
//% after   warp_per_segment
//% source  Harris 2007, applied to each segment
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% tune    block_threads = 512, 64, 128, 256
//% tune    items_per_thread = 4, 1, 2, 8, 16, 32
//% tune    blocks_per_multiprocessor = 8192, 2, 32
//% launch  reduce  grid = min(num_segments, num_multiprocessors * blocks_per_multiprocessor)  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/block_reduce.cuh
//% if commutative
//% use     parts/elements/fold_strided.cuh
//% else
//% use     parts/elements/fold_consecutive.cuh
//% end

// A block takes one segment. If there are more segments than blocks, it goes on with every gridDim.x-th
// segment.
//% if !commutative
// combine() need not commute: each warp takes one contiguous share of the segment and walks it in chunks. In
// a chunk, each lane folds kItemsPerThread consecutive elements. The warps' totals are joined in the order of
// their shares.
//% end
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       Results results)
{
    for (Index segment = blockIdx.x; segment < segments.num_segments; segment += gridDim.x) {
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        //% if commutative
        State total = fold_strided(inputs, first, length, segment, threadIdx.x, block_threads);
        //% else
        State total = identity();
        const int num_warps = block_threads / kWarpThreads;
        constexpr int kChunk = kItemsPerThread * kWarpThreads;
        const int lane = threadIdx.x % kWarpThreads;
        const Index share = (length / kChunk + num_warps) / num_warps * kChunk;  // a number of whole chunks
        const Index begin = min(share * (threadIdx.x / kWarpThreads), length);
        const Index end = min(begin + share, length);
        for (Index chunk = begin; chunk < end; chunk += kChunk) {
            const Index mine = chunk + lane * kItemsPerThread;
            const State part =
                warp_reduce(fold_consecutive(inputs, first + mine, mine, segment, end - mine));
            // The totals of other lanes stay the identity, so that the block joins the warps' shares in
            // order.
            if (lane == 0)
                total = combine(total, part);
        }
        //% end

        total = block_reduce(total);
        if (threadIdx.x == 0)
            store(results, segment, length, total);
        if (segment + gridDim.x < segments.num_segments)
            __syncthreads();  // the warps' totals have been read, so the next segment may write them
    }
}
