//% stage   thread_per_segment
//% title   One thread reduces one segment
//% source  Bell & Garland 2009, section 4.3, CSR (scalar)
//% layout  whole, uniform, offsets, ranges
//% tune    block_threads = 256, 64, 128, 512
//% launch  reduce  grid = ceil_div(num_segments, block_threads)  block = block_threads
//% use     parts/segment_extent.cuh

// Elements are combined strictly from left to right, so not even associativity is needed, and the result is
// the reference's bit for bit wherever arithmetic is. Neighbouring threads read addresses a whole segment
// apart: good for segments of a few elements, the slow baseline for longer ones.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const Index segment = Index(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (segment >= segments.num_segments)
        return;

    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    State total = identity();
    for (Index position = 0; position < length; ++position)
        total = combine(total, load_item(inputs, first + position, position, segment));
    store(results, segment, length, total);
}
