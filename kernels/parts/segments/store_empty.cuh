//% use parts/segments/segment_items.cuh
//% launch  store_empty  grid = ceil_div(num_segments, 256)  block = 256
// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(256)
store_empty(Segments segments, Results results)
{
    const Index segment = Index(blockIdx.x) * 256 + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
}
