//% stage   thread_per_segment
//% title   One thread reduces one segment
//% source  Bell & Garland 2009, section 4.3, CSR (scalar)
//% layout  whole, uniform, offsets, ranges
//% tune    block_threads = 256, 64, 128, 512
//% tune    segments_per_thread = 1, 2, 4, 8
//% let     block_segments = block_threads * segments_per_thread
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments/segment_extent.cuh

// Elements are combined strictly from left to right, so combine() need not be associative, and results equal
// the reference bit for bit if arithmetic does. Neighbouring threads read addresses that are a whole segment
// apart. This is fast for segments of a few elements, and a slow baseline for longer ones. A thread's
// segments are block_threads apart, so that neighbouring threads store to neighbouring places.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       Results results)
{
    const Index begin = Index(blockIdx.x) * block_threads * kSegmentsPerThread + threadIdx.x;
    //% if uniform
    // All segments have the same length, so a thread walks all its segments side by side.
    if (begin + (kSegmentsPerThread - 1) * block_threads < segments.num_segments) {
        State totals[kSegmentsPerThread];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerThread; ++k)
            totals[k] = identity();
        for (Index position = 0; position < segments.length; ++position) {
            #pragma unroll
            for (int k = 0; k < kSegmentsPerThread; ++k) {
                const Index segment = begin + k * block_threads;
                const Index index = segment * segments.length + position;
                //% if appends_exactly
                const Element element = load_element(inputs, index);
                totals[k] = append_element(totals[k], inputs, element, index, position, segment);
                //% else
                totals[k] = combine(totals[k], load_item(inputs, index, position, segment));
                //% end
            }
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerThread; ++k)
            store(results, begin + k * block_threads, segments.length, totals[k]);
        return;
    }
    //% end
    //% if !uniform && segments_per_thread > 1
    // A thread walks all its segments side by side. It looks up their extents first, then reads one element
    // of each at a time.
    if (begin + (kSegmentsPerThread - 1) * block_threads < segments.num_segments) {
        Index firsts[kSegmentsPerThread];
        Index lengths[kSegmentsPerThread];
        State totals[kSegmentsPerThread];
        Index longest = 0;
        #pragma unroll
        for (int k = 0; k < kSegmentsPerThread; ++k) {
            firsts[k] = segment_first(segments, begin + k * block_threads);
            lengths[k] = segment_length(segments, begin + k * block_threads);
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerThread; ++k) {
            totals[k] = identity();
            longest = max(longest, lengths[k]);
        }
        #pragma unroll 1
        for (Index position = 0; position < longest; ++position) {
            State items[kSegmentsPerThread];
            #pragma unroll
            for (int k = 0; k < kSegmentsPerThread; ++k) {
                //% if uses_tables
                // Behind a segment's end, nothing is looked up.
                items[k] = identity();
                if (position < lengths[k])
                    items[k] = load_item(inputs, firsts[k] + position, position, begin + k * block_threads);
                //% else
                // If a segment has ended, some element is read again and not folded.
                const Index index = max(firsts[k] + min(position, lengths[k] - 1), Index(0));
                items[k] = load_item(inputs, index, position, begin + k * block_threads);
                //% end
            }
            #pragma unroll
            for (int k = 0; k < kSegmentsPerThread; ++k) {
                const State longer = combine(totals[k], items[k]);
                if (position < lengths[k])
                    totals[k] = longer;
            }
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerThread; ++k)
            store(results, begin + k * block_threads, lengths[k], totals[k]);
        return;
    }
    //% end
    #pragma unroll 1
    for (int k = 0; k < kSegmentsPerThread; ++k) {
        const Index segment = begin + k * block_threads;
        if (segment >= segments.num_segments)
            return;
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = identity();
        for (Index position = 0; position < length; ++position)
            //% if appends_exactly
            total = append_element(total, inputs, load_element(inputs, first + position), first + position,
                                   position, segment);
            //% else
            total = combine(total, load_item(inputs, first + position, position, segment));
            //% end
        store(results, segment, length, total);
    }
}
