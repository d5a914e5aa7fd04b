//% stage   grid_reduce
//% title   Some blocks, or all, reduce each segment; the segment's last block finishes
//% source  Harris 2007, kernel 7, with the last block of the CUDA sample threadFenceReduction
//% layout  whole, uniform
//% needs   associative
//% tune    block_threads = 256, 128, 512
//% tune    items_per_thread = 8, 4, 16, 32
//% tune    blocks_per_multiprocessor = 8, 2, 4, 16
//% let     num_folded = max(1, num_segments)
//% let     num_tiles = ceil_div(ceil_div(num_items, num_folded), block_threads * items_per_thread)
//% let     resident_blocks = num_multiprocessors * blocks_per_multiprocessor
//% let     segment_blocks = max(1, min(num_tiles, ceil_div(resident_blocks, num_folded)))
//% scratch partials : State[num_segments * segment_blocks]
//% scratch tickets : unsigned[num_segments] zero
//% launch  reduce  grid = num_segments * segment_blocks  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/block_reduce.cuh
//% if commutative
//% use     parts/elements/fold_strided.cuh
//% else
//% use     parts/elements/fold_consecutive.cuh
//% end

// Each segment has the same number of consecutive blocks.
//% if !commutative
// combine() need not commute: each warp of these blocks takes one contiguous share of the segment and walks
// it in chunks. In a chunk, each lane folds kItemsPerThread consecutive elements. The totals of warps and
// blocks are joined in the order of their shares.
//% end
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* tickets)
{
    //% if whole
    const Index segment = 0;
    const int num_blocks = int(gridDim.x);
    const int block = int(blockIdx.x);
    //% else
    const int num_blocks = int(gridDim.x / unsigned(segments.num_segments));
    const Index segment = Index(blockIdx.x / unsigned(num_blocks));
    const int block = int(blockIdx.x % unsigned(num_blocks));
    //% end
    const Index length = segment_length(segments, segment);
    const Index first = segment_first(segments, segment);
    //% if commutative
    State total = fold_strided(inputs, first, length, segment, block * kBlockThreads + int(threadIdx.x),
                               num_blocks * kBlockThreads);
    //% else
    State total = identity();
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kChunk = kItemsPerThread * kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const Index num_warps = Index(num_blocks) * kWarps;
    const Index warp = Index(block) * kWarps + threadIdx.x / kWarpThreads;
    const Index num_chunks = length / kChunk + 1;
    // Warps take equal shares of whole chunks. If the chunks do not divide evenly, the first warps take one
    // chunk more.
    const Index chunks = num_chunks / num_warps;
    const Index more = num_chunks % num_warps;
    const Index begin = (warp * chunks + min(warp, more)) * kChunk;
    const Index end = min(begin + (chunks + (warp < more ? 1 : 0)) * kChunk, length);
    for (Index chunk = begin; chunk < end; chunk += kChunk) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = warp_reduce(fold_consecutive(inputs, first + mine, mine, segment, end - mine));
        // The totals of other lanes stay the identity, so that the block joins the warps' shares in order.
        if (lane == 0)
            total = combine(total, part);
    }
    //% end

    // The first round joins the totals of a block's threads. A second round, only in the segment's last
    // block, joins the totals of the segment's blocks.
    State* parts = partials + i64(segment) * num_blocks;
    __shared__ bool last;
    #pragma unroll 1
    for (bool is_last_round = false;; is_last_round = true) {
        total = block_reduce(total);
        if (is_last_round)
            break;
        if (threadIdx.x == 0) {
            parts[block] = total;
            __threadfence();  // others see the partial before the ticket
            // The last ticket wraps to 0, ready for the next launch.
            last = atomicInc(tickets + segment, num_blocks - 1) == unsigned(num_blocks - 1);
        }
        __syncthreads();  // all threads know whether theirs is the last block
        if (!last)
            return;
        __threadfence();  // reads the other blocks' partials after their tickets

        // Each thread joins a few consecutive partials.
        const int share = (num_blocks + kBlockThreads - 1) / kBlockThreads;
        total = identity();
        #pragma unroll 1
        for (int k = 0; k < share; ++k) {
            const int part = int(threadIdx.x) * share + k;
            if (part < num_blocks)
                total = combine(total, parts[part]);
        }
    }
    if (threadIdx.x == 0)
        store(results, segment, length, total);
}
