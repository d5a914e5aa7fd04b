//% stage   thread_per_segment
//% title   One thread reduces one segment
//% source  Bell & Garland 2009, section 4.3, CSR (scalar)
//% layout  whole, uniform, offsets, ranges
//% let     is_narrow = element_bytes > 0 && element_bytes <= 2
//% let     is_plain = element_bytes > 2 && state_bytes <= element_bytes && state_bytes < 16
//% let     is_few = num_elements <= 524288
//% let     is_medium = num_elements <= 16777216
//% let     has_no_groups = uses_position || uses_segment || element_bytes == 0
//% let     has_vectors = is_narrow && !costly_combine && !has_no_groups
//% let     is_eight = is_plain && !costly_combine && !has_no_groups && num_elements > 4194304 && mean_length == 8
//% let     fits_vectors = has_vectors && mean_length >= 8 && mean_length % 8 == 0 || is_eight
//% let     is_middling = num_elements <= 4194304 && num_elements > 1048576 && state_bytes <= 4
//% let     many_light = is_plain && !is_medium ? 13 : 16
//% let     few_light = element_bytes >= 8 && state_bytes < 16 ? 6 : is_middling ? 8 : many_light
//% let     narrow_alike = element_bytes == 2 && !is_few ? 26 : 16
//% let     light_alike = is_narrow ? narrow_alike : few_light
//% let     dear_alike = num_elements <= 4194304 && !is_few ? 37 : 20
//% let     alike_most = costly_combine ? dear_alike : has_no_groups ? 20 : light_alike
//% let     is_alike = uniform && (num_segments == 0 || mean_length < alike_most && !fits_vectors)
//% let     are_known = (offsets || ranges) && longest_length > 0
//% let     rounds = padded_elements > 0 ? padded_elements / max(1, num_segments) : longest_length
//% let     are_uneven = padded_elements > 4 * num_elements
//% let     many_pairs = element_bytes == 2 && num_elements > 67108864
//% let     other_even = is_plain || many_pairs ? 7 : element_bytes == 2 ? 16 : 18
//% let     many_even = element_bytes >= 8 && num_elements > 8388608 ? 5 : other_even
//% let     dear_even = is_few ? 16 : num_elements <= 4194304 ? 32 : 14
//% let     grouped_even = costly_combine ? dear_even : element_bytes == 1 ? 16 : is_few ? 8 : many_even
//% let     even_rounds = has_no_groups || state_bytes >= 16 ? 44 : grouped_even
//% let     few_uneven = costly_combine && padded_elements > 16 * num_elements ? 12 : 64
//% let     uneven_rounds = is_few ? few_uneven : num_elements <= 8388608 ? 24 : 4
//% let     few_length = is_few ? 160 : num_elements <= 1048576 ? 48 : num_elements <= 4194304 ? 19 : 13
//% let     most_length = are_uneven ? few_length : is_medium ? 80 : costly_combine ? 96 : 64
//% let     is_slice = is_narrow && !costly_combine && num_elements >= 1048576 && num_elements <= 4194304
//% let     are_slices = is_slice && longest_length <= 320 && padded_elements > 0 && padded_elements <= 3 * num_elements
//% let     are_spread = are_slices && mean_length <= 16 && longest_length > 6 * mean_length
//% let     are_grouped = has_vectors && state_bytes < 16 && num_segments >= 512
//% let     are_vectors = are_grouped && longest_length <= mean_length + 1 && longest_length % 8 == 0
//% let     is_close = rounds <= (are_uneven ? uneven_rounds : even_rounds) && longest_length <= most_length
//% let     are_sparse = padded_elements > 16 * num_elements && num_elements > 262144
//% let     are_for_groups = costly_combine && !has_no_groups && are_sparse && longest_length <= 16
//% let     has_short_tail = longest_length <= 28 * num_elements / max(1, num_segments) && padded_elements <= 7 * num_elements
//% let     are_memoryless = has_short_tail && 10 * padded_elements >= 39 * num_elements
//% let     many_rounds = num_elements <= 2097152 ? 62 : costly_combine ? 84 : is_narrow ? 76 : 62
//% let     memoryless_rounds = is_plain || num_elements <= 1048576 ? 34 : many_rounds
//% let     are_threes = costly_combine && mean_length <= 3 && num_elements > 4194304
//% let     is_brief = rounds <= memoryless_rounds && num_elements <= (is_plain ? 25165824 : 11534336) && !are_threes
//% let     most_slow = is_plain || costly_combine && num_elements <= 1048576 ? 34 : is_narrow && num_elements <= 262144 ? 48 : 128
//% let     are_slow = are_memoryless && rounds > most_slow
//% let     are_light = is_close && !are_vectors && !are_slow || are_spread || are_memoryless && is_brief
//% suits   is_alike || are_known && !are_for_groups && are_light ? 100 : 10
//% tune    block_threads = 256, 64, 128, 512
//% tune    segments_per_thread = 1, 2, 4, 8
//% let     are_few = num_segments > 0 && num_segments <= 1048576
//% let     most_alike = mean_length > 4 || are_few ? 1 : mean_length == 2 ? 8 : mean_length > 2 ? 2 : 4
//% let     is_light = element_bytes <= 4 && state_bytes <= 4 && !costly_combine && !is_medium
//% let     most_others = mean_length > 4 || are_few ? 1 : is_light ? 4 : 2
//% prefer  segments_per_thread = uniform ? most_alike : most_others
//% let     block_segments = block_threads * segments_per_thread
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments/segment_extent.cuh

// Elements are combined strictly from left to right, so not even associativity is needed, and the result is
// the reference's bit for bit wherever arithmetic is. Neighbouring threads read addresses a whole segment
// apart: good for segments of a few elements, the slow baseline for longer ones. A thread's segments are
// a block's threads apart, so that neighbouring threads store side by side.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       //% number block_threads
       Results results)
{
    const Index begin = Index(blockIdx.x) * block_threads * kSegmentsPerThread + threadIdx.x;
    //% if uniform
    // All segments have one length, so their elements can be read together.
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
    // All of a thread's segments are under way together: their places first, then an element of each.
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
                // Nothing is looked up for elements that are not the segment's.
                items[k] = identity();
                if (position < lengths[k])
                    items[k] = load_item(inputs, firsts[k] + position, position, begin + k * block_threads);
                //% else
                // Behind a segment's end stands an element that is not folded.
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
