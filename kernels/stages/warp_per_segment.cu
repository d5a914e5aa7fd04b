//% stage   warp_per_segment
//% title   One warp reduces one segment
//% after   thread_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector)
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% let     is_few = num_elements <= 6291456
//% let     are_many = num_segments >= 8192
//% let     fill_waves = num_segments >= (costly_combine ? 6144 : 8192)
//% let     is_wider = costly_combine || state_bytes > element_bytes
//% let     is_slow = !commutative || costly_combine || state_bytes >= 16
//% let     few_rows = element_bytes >= 4 && num_segments < 704 ? 384 : 768
//% let     are_dear = costly_combine && num_elements > 3145728 && num_elements < 33554432 && num_segments >= 1024
//% let     rows = (fill_waves || are_dear) && is_slow ? 8192 : fill_waves ? 1024 : is_few ? few_rows : 192
//% let     is_odd = (fill_waves || num_segments >= 2048 && !costly_combine) && mean_length % 128 != 0
//% let     most_odd = element_bytes > 2 && !is_wider ? 2048 : 3072
//% let     odd_rows = is_odd ? max(rows, num_segments < 4096 ? 5632 : most_odd) : rows
//% let     most = element_bytes >= 8 && !is_few && !is_slow ? min(640, odd_rows) : odd_rows
//% let     are_known = (offsets || ranges) && longest_length > 0
//% let     are_short = are_many && mean_length >= 8 && mean_length < 64 && longest_length <= 32 * mean_length
//% let     streams = offsets && element_bytes > 0 && !uses_position && !uses_segment
//% let     is_close = are_short && !streams && num_elements <= 4194304
//% let     most_steps = is_wider ? 4096 : element_bytes <= 2 ? 8192 : 6144
//% let     is_wide = costly_combine || state_bytes > 4
//% let     stream_steps = is_wide ? 24576 + num_elements / 53 : 21504 + num_elements / 80
//% let     is_skewed = is_wide && longest_length > 2736 && longest_length > 54 * mean_length
//% let     is_soon = !is_skewed && num_segments + (is_wide ? 5 : 4) * longest_length <= stream_steps
//% let     is_prompt = streams ? is_soon && (is_few || !gathers && num_elements <= 8388608) : is_few
//% let     is_little = is_close || is_prompt && longest_length <= most_steps
//% let     is_brisk = commutative ? mean_length < 2048 : state_bytes < 16 || mean_length <= 2048
//% let     spread = num_elements <= 67108864 ? 20 : 4
//% let     is_medium = num_elements <= 16777216
//% let     least = is_medium && num_elements > 2097152 ? 2048 : 8192
//% let     are_even = offsets && num_segments >= least && longest_length <= min(8192, spread * mean_length)
//% let     medium_mean = num_elements <= 8388608 || is_wider || element_bytes <= 2 ? 64 : 128
//% let     narrow_mean = num_elements <= 33554432 ? 128 : 512
//% let     large_mean = costly_combine ? 128 : element_bytes > 2 ? 256 : narrow_mean
//% let     is_even = are_even && mean_length >= (is_medium ? medium_mean : large_mean) && is_brisk
//% let     are_tight = padded_elements <= 5 * num_elements
//% let     has_short_tail = longest_length <= 28 * num_elements / max(1, num_segments) && padded_elements <= 7 * num_elements
//% let     are_memoryless = offsets && has_short_tail && 10 * padded_elements >= 39 * num_elements
//% let     dear_long = are_tight ? (num_elements <= 16777216 ? 48 : 200) : num_elements <= 2097152 ? 20 : 64
//% let     wider_long = num_elements <= 16777216 ? 64 : 300
//% let     eights_long = element_bytes >= 8 && num_elements <= 1048576 ? 64 : 150
//% let     light_long = element_bytes <= 2 ? 84 : is_wider ? wider_long : eights_long
//% let     least_long = costly_combine ? dear_long : are_tight ? light_long : 80
//% let     fill_well = num_segments >= 3072 && num_elements <= (are_tight || mean_length >= 192 ? 35651584 : 16777216)
//% let     most_longest = are_tight || element_bytes >= 8 ? 6144 : 10240
//% let     is_memoryless = are_memoryless && fill_well && mean_length >= least_long && longest_length <= most_longest
//% let     is_far = longest_length <= 72 * num_elements / max(1, num_segments) && 10 * padded_elements <= 77 * num_elements
//% let     are_lognormal = offsets && is_far && 10 * padded_elements >= 69 * num_elements
//% let     are_eights = element_bytes >= 8 && mean_length >= 28 && mean_length <= 100 && num_elements <= 1572864
//% let     are_narrow = element_bytes <= 2 && mean_length >= 100 && mean_length <= 200 && num_elements <= 10485760
//% let     is_lognormal = are_lognormal && !costly_combine && (are_eights || are_narrow)
//% suits   uniform && mean_length <= most || are_known && (is_little || is_even || is_memoryless || is_lognormal) ? 80 : 20
//% tune    block_threads = 256, 64, 128, 512
//% tune    items_per_thread = 4, 1, 2, 8
//% prefer  block_threads = offsets ? 128 : 256
//% prefer  items_per_thread = mean_length >= 256 ? 8 : 4
//% launch  reduce  grid = ceil_div(num_segments, block_threads / 32)  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/warp_reduce.cuh
//% if !commutative
//% use     parts/elements/fold_consecutive.cuh
//% end

//% if commutative
// Lane k takes the elements k, k + 32, ... of the segment: neighbouring lanes read neighbouring addresses,
// and kItemsPerThread loads of a lane are under way at once.
//% else
// combine() need not commute, so a lane may not skip ahead: the warp walks the segment in chunks, in which
// each lane folds kItemsPerThread consecutive elements, and the chunk's total joins the running one in lane
// 0.
//% end
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       Results results)
{
    const int num_warps = block_threads / kWarpThreads;
    const Index segment = Index(blockIdx.x) * num_warps + threadIdx.x / kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    if (segment >= segments.num_segments)
        return;  // the whole warp leaves together

    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    State total = identity();
    //% if commutative
    Index position = lane;
    constexpr int kStride = kItemsPerThread * kWarpThreads;
    for (; position + kStride - kWarpThreads < length; position += kStride) {
        //% if has_append
        Element elements[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            elements[k] = load_element(inputs, first + position + k * kWarpThreads);
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index place = position + k * kWarpThreads;
            total = append_element(total, inputs, elements[k], first + place, place, segment);
        }
        //% else
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index place = position + k * kWarpThreads;
            items[k] = load_item(inputs, first + place, place, segment);
        }
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            total = combine(total, items[k]);
        //% end
    }
    for (; position < length; position += kWarpThreads)
        //% if has_append
        total = append_element(total, inputs, load_element(inputs, first + position), first + position,
                               position, segment);
        //% else
        total = combine(total, load_item(inputs, first + position, position, segment));
        //% end
    total = warp_reduce(total);
    //% else
    for (Index chunk = 0; chunk < length; chunk += kItemsPerThread * kWarpThreads) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = fold_consecutive(inputs, first + mine, mine, segment, length - mine);
        total = combine(total, warp_reduce(part));  // meaningful in lane 0 only
    }
    //% end

    if (lane == 0)
        store(results, segment, length, total);
}
