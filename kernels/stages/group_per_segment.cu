//% stage   group_per_segment
//% title   A group of lanes reduces one segment, a vector a lane at a time
//% after   warp_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector), with as many lanes as a segment needs
//% layout  uniform, offsets, ranges
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% tune    block_threads = 256, 64, 128, 512
//% tune    lanes_per_segment = 8, 1, 2, 4, 16, 32
//% tune    segments_per_group = 4, 1, 2, 8
//% tune    vector_items = 4, 8, 16
//% let     step_items = vector_items
//% fits    lanes_per_segment / 2 * vector_items < mean_length + 2 * vector_items
//% let     block_segments = block_threads / lanes_per_segment * segments_per_group
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments/segment_extent.cuh

// A segment that a group is folding, with the lane's total so far.
struct Part {
    Index first;  // where the segment's first vector begins, at or before `begin`
    Index begin;
    Index end;
    State total;
};

// Returns a bit for each item of the vector at `index`: 1 if the item belongs to the segment.
__device__ __forceinline__ unsigned items_inside(const Part& part, Index index)
{
    const int low = int(max(part.begin - index, Index(0)));
    const int high = int(max(min(part.end - index, Index(kStepItems)), Index(0)));
    return low < high ? (1u << high) - (1u << low) : 0u;
}

// Loads the vector at `index`. `inside` has a 1 for each item that will be folded. If it has none, the
// segment's first vector is loaded instead, so that lanes behind the segment's end take the same path as the
// others.
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

// Appends to `run` the items of a vector whose bits in `inside` are 1.
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
        run = add_bytes(run, items, word, four * 0x00204081 & 0x01010101);  // one bit in each byte
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

// A group folds its segment row by row. In a row, each lane takes kStepItems consecutive elements. Rows begin
// at multiples of kStepItems, so that lanes read vectors wherever the segment begins. Neighbouring groups
// take neighbouring segments, so a warp's reads lie side by side. A group has several segments under way.
//% if commutative
// Each lane keeps its own total over all rows, and the lanes of a group are joined at the end.
//% else
// In each row, the lanes of a group are joined in order.
//% end
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       //% number lanes_per_segment
       Results results)
{
    const int row_items = lanes_per_segment * kStepItems;
    const int lane_bits = 31 - __clz(lanes_per_segment);  // compilers fold this for a constant, but not __ffs
    const int num_groups = block_threads >> lane_bits;
    const int group = threadIdx.x >> lane_bits;
    const int lane = threadIdx.x & (lanes_per_segment - 1);
    const Index first = Index(blockIdx.x) * num_groups * kSegmentsPerGroup + group;
    Part parts[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups behind the last segment fold it again and store nothing.
        const Index segment = min(first + k * num_groups, segments.num_segments - 1);
        const Index begin = segment_first(segments, segment);
        const Index end = begin + segment_length(segments, segment);
        parts[k] = {begin - begin % kStepItems, begin, end, identity()};
        longest = max(longest, end - parts[k].first);
    }
    //% if commutative
    for (Index row = 0; row < longest; row += row_items) {
    //% else
    // All lanes of a warp take part in the shuffles, so they go on until the warp's longest segment ends.
    // Segments of equal length may need different numbers of rows, because they begin at different places of
    // a vector.
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
        // Each round joins lanes of all segments. If the launch passes lanes_per_segment, the loop is not
        // unrolled, and a loop for each segment would wait for one round after the other.
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
