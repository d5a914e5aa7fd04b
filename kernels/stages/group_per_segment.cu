//% stage   group_per_segment
//% title   A group of lanes reduces one segment, four elements a lane at a time
//% after   warp_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector), with as many lanes as a segment needs
//% layout  uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% let     is_wider = costly_combine || state_bytes > element_bytes
//% let     is_plain = !is_wider && element_bytes > 2 && state_bytes < 16
//% let     is_few = num_elements <= 2097152
//% let     wide_longest = element_bytes >= 8 ? 96 : 255
//% let     few_longest = is_plain ? wide_longest : num_segments <= 8192 ? 31 : 64
//% let     enough = costly_combine ? 4194304 : is_wider ? 16777216 : 2097152
//% let     longest = num_elements > enough ? 192 : few_longest
//% let     are_many = num_elements > (element_bytes >= 8 ? 8388608 : 2097152)
//% let     is_odd = is_plain && are_many && mean_length < 640 && mean_length % 128 != 0
//% let     are_known = longest_length > 0
//% let     are_short = num_segments >= 8192 && mean_length >= 8 && mean_length < 64
//% let     most_spread = is_plain || !offsets ? 32 : 12
//% let     spread = !is_few ? most_spread : is_plain ? 20 : 8
//% let     are_loose = are_short && longest_length <= spread * mean_length
//% let     loose = costly_combine ? 0 : is_wider || state_bytes >= 16 ? 2097152 : 4194304
//% let     are_near = num_segments >= 256 && mean_length >= 8 && longest_length <= 4 * mean_length
//% let     near_mean = is_wider ? 64 : !is_plain ? 96 : num_elements <= 8388608 ? 128 : 64
//% let     near = is_wider ? 2097152 : 16777216
//% let     are_same = are_near && is_plain && mean_length < 256 && 4 * longest_length <= 5 * mean_length
//% let     is_loose = are_loose && num_elements <= (offsets ? loose : 4194304)
//% let     is_near = are_near && mean_length < near_mean && num_elements <= (offsets ? near : 4194304)
//% let     is_same = are_same && mean_length >= 64 && num_elements <= 33554432
//% let     are_filled = mean_length >= 1
//% let     are_tiny = is_plain && !is_few && mean_length < 8 && longest_length <= 16 && are_filled
//% let     are_gathered = gathers && are_near && mean_length < 64
//% let     is_apt = are_known && (is_loose || is_near || is_same || are_tiny || are_gathered)
//% suits   uniform && (mean_length <= longest || is_odd) || (offsets || ranges) && is_apt ? 90 : 0
//% tune    block_threads = 256, 64, 128, 512
//% tune    lanes_per_segment = 8, 1, 2, 4, 16, 32
//% tune    segments_per_group = 4, 1, 2, 8
//% let     few = mean_length <= 4 ? 1 : mean_length <= 8 ? 2 : 4
//% let     many = mean_length <= 32 ? 8 : mean_length <= 64 ? 16 : 32
//% let     even = mean_length <= 16 ? few : many
//% let     is_busy = costly_combine || element_bytes <= 2
//% let     busy = mean_length <= 16 ? 1 : mean_length <= 64 ? 2 : 4
//% let     wide = mean_length <= 16 ? even : min(8, even / 2)
//% let     alike = is_busy ? busy : state_bytes >= 16 ? wide : even
//% let     is_little = num_elements > 0 && num_elements <= 2097152
//% prefer  lanes_per_segment = uniform ? alike : is_little && mean_length > 16 ? min(32, 2 * even) : even
//% prefer  segments_per_group = uniform && !is_busy ? 4 : 1
//% prefer  block_threads = uniform || is_little && mean_length > 16 ? 256 : 128
//% let     block_segments = block_threads / lanes_per_segment * segments_per_group
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segment_extent.cuh

// A group takes one row of its segment at a time, a lane kStepItems consecutive elements of it, and joins the
// lanes in order. Where a segment begins at a multiple of kStepItems, lanes read vectors; neighbouring groups
// read neighbouring segments: a warp's reads lie side by side. A group has several segments under way.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       //% number lanes_per_segment
       Results results)
{
    const int row_items = lanes_per_segment * kStepItems;
    const int lane_bits = 31 - __clz(lanes_per_segment);  // the compiler folds it; not so __ffs
    const int num_groups = block_threads >> lane_bits;
    const int group = threadIdx.x >> lane_bits;
    const int lane = threadIdx.x & (lanes_per_segment - 1);
    const Index first = Index(blockIdx.x) * num_groups * kSegmentsPerGroup + group;
    State totals[kSegmentsPerGroup];
    Index begins[kSegmentsPerGroup];
    Index lengths[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups beyond the last segment fold it as well, and store nothing.
        const Index segment = min(first + k * num_groups, segments.num_segments - 1);
        totals[k] = identity();
        begins[k] = segment_first(segments, segment);
        lengths[k] = segment_length(segments, segment);
        longest = max(longest, lengths[k]);
    }
    //% if uniform
    for (Index row = 0; row < longest; row += row_items) {
    //% else
    // The lanes of a warp go on until the longest of its segments ends, because all meet in the shuffles.
    for (Index row = 0; __any_sync(kFullMask, row < longest); row += row_items) {
    //% end
        const Index position = row + lane * kStepItems;
        Items items[kSegmentsPerGroup];
        int counts[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            counts[k] = int(max(min(lengths[k] - position, Index(kStepItems)), Index(0)));
            //% if uniform
            items[k] = load_items(inputs, begins[k] + position, counts[k]);
            //% else
            // Far behind the end of a short segment there may be no Index.
            items[k] = load_items(inputs, counts[k] > 0 ? begins[k] + position : 0, counts[k]);
            //% end
        }
        State parts[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            parts[k] = identity();
            #pragma unroll
            for (int i = 0; i < kStepItems; ++i)
                if (i < counts[k])
                    //% if has_append
                    parts[k] = append_item(parts[k], inputs, items[k], i, begins[k] + position + i);
                    //% else
                    parts[k] = combine(parts[k], lift_item(inputs, items[k], i, begins[k] + position + i));
                    //% end
        }
        // The rounds of all segments together: where the launch says the lanes, the loop is not unrolled, and
        // rounds of one segment after another would wait for each other.
        #pragma unroll
        for (int delta = 1; delta < lanes_per_segment; delta *= 2) {
            #pragma unroll
            for (int k = 0; k < kSegmentsPerGroup; ++k)
                parts[k] = combine(parts[k], shuffle_down(parts[k], delta));
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k)
            totals[k] = combine(totals[k], parts[k]);  // meaningful in lane 0 only
    }
    if (lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if (first + k * num_groups < segments.num_segments)
            store(results, first + k * num_groups, lengths[k], totals[k]);
}
