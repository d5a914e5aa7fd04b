//% stage   group_per_segment
//% title   A group of lanes reduces one segment, four elements a lane at a time
//% after   warp_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector), with as many lanes as a segment needs
//% layout  uniform
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% tune    block_threads = 256, 64, 128, 512
//% tune    lanes_per_segment = 8, 1, 2, 4, 16, 32
//% tune    segments_per_group = 4, 1, 2, 8
//% let     few = mean_length <= 4 ? 1 : mean_length <= 8 ? 2 : 4
//% let     many = mean_length <= 32 ? 8 : mean_length <= 64 ? 16 : 32
//% prefer  lanes_per_segment = mean_length <= 16 ? few : many
//% let     block_segments = block_threads / lanes_per_segment * segments_per_group
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments.cuh

constexpr int kGroups = kBlockThreads / kLanesPerSegment;
constexpr int kRowItems = kLanesPerSegment * kStepItems;

// A group takes one row of its segment at a time, a lane kStepItems consecutive elements of it, and joins the
// lanes in order. Where the length divides by kStepItems, lanes read vectors, and neighbouring groups read
// neighbouring segments: a warp's reads lie side by side. A group has several segments under way at once.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const int group = threadIdx.x / kLanesPerSegment;
    const int lane = threadIdx.x % kLanesPerSegment;
    const Index first = Index(blockIdx.x) * kGroups * kSegmentsPerGroup + group;
    State totals[kSegmentsPerGroup];
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        totals[k] = identity();
    for (Index row = 0; row < segments.length; row += kRowItems) {
        const Index position = row + lane * kStepItems;
        const int count = int(min(segments.length - position, Index(kStepItems)));  // not above 0: none left
        Items items[kSegmentsPerGroup];
        Index indices[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            // Groups beyond the last segment fold it as well, and store nothing.
            const Index segment = min(first + k * kGroups, segments.num_segments - 1);
            indices[k] = segment * segments.length + position;
            items[k] = load_items(inputs, indices[k], count);
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            State part = identity();
            #pragma unroll
            for (int i = 0; i < kStepItems; ++i)
                if (i < count)
                    part = combine(part, lift_item(inputs, items[k], i, indices[k] + i));
            #pragma unroll
            for (int delta = 1; delta < kLanesPerSegment; delta *= 2)
                part = combine(part, shuffle_down(part, delta));
            totals[k] = combine(totals[k], part);  // meaningful in lane 0 only
        }
    }
    if (lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if (first + k * kGroups < segments.num_segments)
            store(results, first + k * kGroups, segments.length, totals[k]);
}
