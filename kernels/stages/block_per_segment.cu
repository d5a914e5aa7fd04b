//% stage   block_per_segment
//% title   One block reduces one segment
//% after   warp_per_segment
//% source  Harris 2007, applied to each segment
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% let     is_few = num_elements <= 2097152
//% let     is_narrow = element_bytes > 0 && element_bytes <= 2
//% let     is_dear = !commutative && state_bytes >= 16 && mean_length > 2048 && !is_few
//% let     is_alone = num_segments == 1 && mean_length > (is_narrow ? 86016 : 32768)
//% let     is_brief = (commutative || mean_length <= 131072) && !is_alone
//% let     large_shares = element_bytes == 1 ? 240 : element_bytes > 2 && state_bytes > element_bytes ? 110 : 140
//% let     shares = num_elements > 67108864 ? large_shares : costly_combine || element_bytes <= 2 ? 120 : 80
//% let     most = (element_bytes == 1 ? 524288 : 393216) / max(4, element_bytes) + num_elements / shares
//% let     wants_grid = mean_length * element_bytes % 16 != 0 || element_bytes >= 8 || state_bytes > element_bytes
//% let     grid_mean = element_bytes >= 8 ? 20480 : is_narrow ? 86016 : 30720
//% let     most_alike = num_segments <= 64 && wants_grid ? min(most, grid_mean) : most
//% let     is_share = num_segments > (is_narrow ? 160 : 112) || mean_length <= 393216
//% let     is_alike = uniform && !is_dear && is_brief && is_share && mean_length <= most_alike
//% let     are_even = longest_length <= min(most, 16 * mean_length)
//% let     are_tiles = offsets && num_elements <= 81920 && is_narrow && longest_length > 43008 && num_segments <= 8
//% let     most_lone = min(longest_length > 5760 ? 3800 : 5632, 512 + longest_length)
//% let     is_lone = !are_tiles && longest_length > 160 && num_segments <= most_lone
//% let     are_near = are_even && (!offsets || longest_length <= 8 * mean_length && !costly_combine)
//% let     is_wider = costly_combine || state_bytes > element_bytes
//% let     are_twins = longest_length <= 2 * mean_length
//% let     soon = are_twins ? 196608 : is_wider || element_bytes >= 8 ? 20480 : 22528
//% let     is_rare = is_lone && num_elements <= 4194304 && (longest_length <= soon || are_near)
//% let     usual_mean = (longest_length > 8 * mean_length || is_wider) && element_bytes > 2 ? 1536 : 2048
//% let     least_mean = element_bytes >= 8 || is_narrow && num_elements <= 33554432 ? 1024 : usual_mean
//% let     are_enough = commutative && mean_length >= least_mean && (is_rare || !is_few)
//% let     is_full = longest_length > 0 && are_even && are_enough
//% let     is_uneven = 10 * padded_elements >= 62 * num_elements && 10 * padded_elements <= 77 * num_elements
//% let     has_short_tail = is_uneven && longest_length <= 72 * num_elements / max(1, num_segments)
//% let     are_far = longest_length > (element_bytes >= 8 ? 6144 : 10240) || 10 * padded_elements >= 69 * num_elements
//% let     are_drawn = offsets && has_short_tail && are_far && mean_length >= 190 && num_segments <= 32768 && num_elements <= 10485760
//% suits   is_alike ? 70 : (offsets || ranges) && !is_alone && (is_rare || is_full || are_drawn) ? 85 : 0
//% tune    block_threads = 512, 64, 128, 256
//% tune    items_per_thread = 4, 1, 2, 8, 16, 32
//% tune    blocks_per_multiprocessor = 8192, 2, 32
//% let     is_little = num_elements > 0 && num_elements <= 2097152
//% let     fewest = is_little && mean_length >= 4096 ? 256 : 128
//% let     is_long = costly_combine || state_bytes >= 16
//% let     held_bytes = uses_position || uses_segment ? state_bytes : element_bytes
//% let     is_busy = commutative && is_long && held_bytes <= 8 && !is_little && mean_length <= 16384
//% let     usual = mean_length >= 65536 ? 512 : commutative && mean_length < 8192 ? fewest : 256
//% prefer  block_threads = is_busy ? 64 : usual
//% prefer  items_per_thread = !commutative ? 8 : is_busy || is_little && mean_length >= 65536 ? 32 : 16
//% launch  reduce  grid = min(num_segments, num_multiprocessors * blocks_per_multiprocessor)  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/block_reduce.cuh
//% if commutative
//% use     parts/elements/fold_strided.cuh
//% else
//% use     parts/elements/fold_consecutive.cuh
//% end

// A block takes one segment, or every gridDim.x-th where there are more than blocks.
//% if !commutative
// combine() need not commute: each warp takes one contiguous share of the segment and walks it in chunks,
// in which a lane folds kItemsPerThread consecutive elements. The warps' totals are joined in the order of
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
        const Index share = (length / kChunk + num_warps) / num_warps * kChunk;  // whole chunks
        const Index begin = min(share * (threadIdx.x / kWarpThreads), length);
        const Index end = min(begin + share, length);
        for (Index chunk = begin; chunk < end; chunk += kChunk) {
            const Index mine = chunk + lane * kItemsPerThread;
            const State part =
                warp_reduce(fold_consecutive(inputs, first + mine, mine, segment, end - mine));
            // The other lanes' totals stay the identity, so that the block's order is the shares'.
            if (lane == 0)
                total = combine(total, part);
        }
        //% end

        total = block_reduce(total);
        if (threadIdx.x == 0)
            store(results, segment, length, total);
        if (segment + gridDim.x < segments.num_segments)
            __syncthreads();  // the warps' totals have been read, the next segment's may take their place
    }
}
