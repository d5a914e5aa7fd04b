//% stage   warp_per_segment
//% title   One warp reduces one segment
//% after   thread_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector)
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% tune    block_threads = 256, 64, 128, 512
//% tune    items_per_thread = 4, 1, 2, 8
//% launch  reduce  grid = ceil_div(num_segments, block_threads / 32)  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/warp_reduce.cuh
//% if !commutative
//% use     parts/elements/fold_consecutive.cuh
//% end

//% if commutative
// Lane k takes the elements k, k + 32, ... of the segment. Neighbouring lanes read neighbouring addresses,
// and kItemsPerThread loads of a lane are under way at once.
//% else
// combine() need not commute, so each lane takes consecutive elements. The warp walks the segment in chunks.
// In a chunk, each lane folds kItemsPerThread consecutive elements, and lane 0 appends the chunk's total to
// the total so far.
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
