//% stage   group_per_segment
//% title   A group of lanes reduces one segment, a vector a lane at a time
//% after   warp_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector), with as many lanes as a segment needs
//% layout  uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% let     is_wider = costly_combine || state_bytes > element_bytes
//% let     is_plain = !is_wider && element_bytes > 2 && state_bytes < 16
//% tune    block_threads = 256, 64, 128, 512
//% tune    lanes_per_segment = 8, 1, 2, 4, 16, 32
//% tune    segments_per_group = 4, 1, 2, 8
//% tune    vector_items = 4, 8, 16
//% let     step_items = vector_items
//% let     is_little = num_elements > 0 && num_elements <= 2097152
//% let     is_dear = costly_combine || is_wider && element_bytes > 2
//% let     is_rich = costly_combine ? mean_length < 300 : mean_length >= 64 || uniform
//% let     dear_items = element_bytes >= 8 ? 4 : is_rich ? 16 : 8
//% let     light_items = element_bytes >= 8 ? 4 : 8
//% let     eights = is_plain && commutative && element_bytes >= 8 ? 11 : 16
//% let     fitting = mean_length < eights ? 8 : is_dear ? dear_items : element_bytes <= 2 ? 16 : light_items
//% let     few_items = mean_length % 8 != 0 && uniform && element_bytes == 2 && mean_length < 16 ? 4 : fitting
//% let     little_items = element_bytes >= 8 ? (mean_length > 512 ? 8 : 4) : mean_length > 256 ? 16 : 8
//% prefer  vector_items = mean_length < 8 ? 4 : is_little ? little_items : few_items
//% let     is_skew = !uniform || mean_length % vector_items != 0
//% let     vectors = ceil_div(mean_length + (is_skew ? vector_items - 1 : 0), vector_items)
//% let     plain_lanes = 2 * ceil_div(9 * mean_length, 10 * vector_items) - 1
//% let     other_lanes = 2 * ceil_div(9 * mean_length, 20 * vector_items) - 1
//% let     takes_one = mean_length < 48 && (element_bytes == 1 || state_bytes <= element_bytes)
//% let     even_lanes = takes_one ? 1 : 13 * mean_length / (10 * vector_items)
//% let     costly_lanes = mean_length < 300 ? min(4, mean_length / 24) : mean_length < 800 ? 8 : 32
//% let     wide_lanes = mean_length < 24 ? 1 : mean_length < 48 ? 2 : mean_length < 192 ? 4 : mean_length < 400 ? 8 : 16
//% let     dear_lanes = costly_combine ? costly_lanes : wide_lanes
//% let     light_lanes = is_plain ? plain_lanes : uniform ? even_lanes : other_lanes
//% let     wanted = is_dear && (costly_combine || vector_items == 16) ? dear_lanes : light_lanes
//% let     most_dear = mean_length < 300 ? 8 : mean_length < 800 ? 16 : 32
//% let     most_lanes = costly_combine ? most_dear : is_wider && mean_length < 300 ? 16 : 32
//% let     most_little = mean_length <= 256 && num_elements > 524288 ? 16 : 32
//% let     one_step = ceil_div(mean_length + (is_skew ? vector_items / 2 : 0), vector_items)
//% let     enough = is_little && mean_length >= 8 ? min(2 * one_step - 1, most_little) : min(wanted, most_lanes)
//% let     up_to_4 = enough >= 4 ? 4 : enough >= 2 ? 2 : 1
//% let     lanes = enough >= 32 ? 32 : enough >= 16 ? 16 : enough >= 8 ? 8 : up_to_4
//% let     most_slots = element_bytes == 1 ? 130 : 134
//% let     is_wasteful = uniform && !is_plain && !is_little && 100 * lanes * ceil_div(vectors, lanes) > most_slots * vectors
//% prefer  lanes_per_segment = is_wasteful ? max(1, lanes / 2) : lanes
//% let     is_short = element_bytes == 1 ? mean_length >= 36 && mean_length < 48 : element_bytes == 2
//% let     is_mild = !uniform || mean_length < 64 || costly_combine || vector_items == 16
//% let     are_single = is_plain ? 0 : is_wider && element_bytes > 2 ? is_mild : is_short
//% prefer  segments_per_group = are_single || is_little ? 1 : 2
//% let     is_narrow_short = element_bytes <= 2 && mean_length < 64 && !is_little
//% prefer  block_threads = uniform && !is_narrow_short || is_little && mean_length > 16 ? 256 : 128
//% let     block_segments = block_threads / lanes_per_segment * segments_per_group
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments/segment_extent.cuh

// What a group has under way of a segment.
struct Part {
    Index first;  // the vectors of the segment begin here, at or before its first element
    Index begin;
    Index end;
    State total;
};

// A bit for each item of the vector at `index` that is the segment's.
__device__ __forceinline__ unsigned items_inside(const Part& part, Index index)
{
    const int low = int(max(part.begin - index, Index(0)));
    const int high = int(max(min(part.end - index, Index(kStepItems)), Index(0)));
    return low < high ? (1u << high) - (1u << low) : 0u;
}

// Reads the vector at `index`, in which nothing but the items `inside` is folded. Where there are none, the
// segment's first vector is read, so that lanes behind a segment's end take the same path as the others.
__device__ __forceinline__ Items load_part(const Inputs& inputs,
                                           const Segments& segments,
                                           const Part& part,
                                           Index index,
                                           unsigned inside)
{
    const Index from = inside != 0 ? index : part.first;
    //% if ranges
    return load_items(inputs, from, int(max(min(part.end - from, Index(kStepItems)), Index(0))));
    //% else
    return load_items(inputs, from, int(min(segments.num_items - from, Index(kStepItems))));
    //% end
}

// Folds the items `inside` of a vector behind `run`.
__device__ __forceinline__ State fold_inside(const Inputs& inputs,
                                             const Items& items,
                                             Index index,
                                             unsigned inside,
                                             State run)
{
    //% if sums_bytes && vector_items > 4
    #pragma unroll
    for (int word = 0; word < kStepItems / 4; ++word) {
        const unsigned four = inside >> 4 * word & 15;
        run = add_bytes(run, items, word, four * 0x00204081 & 0x01010101);  // each bit in a byte
    }
    //% else
    #pragma unroll
    for (int i = 0; i < kStepItems; ++i)
        if (inside >> i & 1)
            //% if has_append
            run = append_item(run, inputs, items, i, index + i);
            //% else
            run = combine(run, lift_item(inputs, items, i, index + i));
            //% end
    //% end
    return run;
}

// A group takes one row of its segment at a time, a lane kStepItems consecutive elements of it. Rows begin
// at a multiple of kStepItems, so that lanes read vectors wherever a segment begins. Neighbouring groups read
// neighbouring segments: a warp's reads lie side by side. A group has several segments under way.
//% if commutative
// Each lane goes on with what it has, and the lanes of a group are joined at the end.
//% else
// The lanes of a row are joined in order.
//% end
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
    Part parts[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups beyond the last segment fold it as well, and store nothing.
        const Index segment = min(first + k * num_groups, segments.num_segments - 1);
        const Index begin = segment_first(segments, segment);
        const Index end = begin + segment_length(segments, segment);
        parts[k] = {begin - begin % kStepItems, begin, end, identity()};
        longest = max(longest, end - parts[k].first);
    }
    //% if commutative
    for (Index row = 0; row < longest; row += row_items) {
    //% else
    // The lanes of a warp go on until the last of its segments ends, because all meet in the shuffles. Those
    // of one length too end after different numbers of rows, as they begin in the middle of a vector.
    for (Index row = 0; __any_sync(kFullMask, row < longest); row += row_items) {
    //% end
        Items items[kSegmentsPerGroup];
        unsigned inside[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            const Index index = parts[k].first + row + lane * kStepItems;
            inside[k] = items_inside(parts[k], index);
            items[k] = load_part(inputs, segments, parts[k], index, inside[k]);
        }
        //% if commutative
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            const Index index = parts[k].first + row + lane * kStepItems;
            parts[k].total = fold_inside(inputs, items[k], index, inside[k], parts[k].total);
        }
        //% else
        State rows[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            const Index index = parts[k].first + row + lane * kStepItems;
            rows[k] = fold_inside(inputs, items[k], index, inside[k], identity());
        }
        // The rounds of all segments together: where the launch says the lanes, the loop is not unrolled, and
        // rounds of one segment after another would wait for each other.
        #pragma unroll
        for (int delta = 1; delta < lanes_per_segment; delta *= 2) {
            #pragma unroll
            for (int k = 0; k < kSegmentsPerGroup; ++k)
                rows[k] = combine(rows[k], shuffle_down(rows[k], delta));
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k)
            parts[k].total = combine(parts[k].total, rows[k]);  // meaningful in lane 0 only
        //% end
    }
    //% if commutative
    #pragma unroll
    for (int delta = 1; delta < lanes_per_segment; delta *= 2) {
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k)
            parts[k].total = combine(parts[k].total, shuffle_down(parts[k].total, delta));
    }
    //% end
    if (lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if (first + k * num_groups < segments.num_segments)
            store(results, first + k * num_groups, parts[k].end - parts[k].begin, parts[k].total);
}
