//% use parts/segments/segment_items.cuh
//% if rows
//% launch  store_empty  grid = ceil_div(num_segments * num_features, 256)  block = 256
//% else
//% launch  store_empty  grid = ceil_div(num_segments, 256)  block = 256
//% end
// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(256)
store_empty(Segments segments, Results results)
{
    //% if rows
    const i64 place = i64(blockIdx.x) * 256 + threadIdx.x;  // of a feature of a segment
    const Index segment = Index(place / results.num_features);
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store_feature(results, segment, 0, place, identity());
    //% else
    const Index segment = Index(blockIdx.x) * 256 + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
    //% end
}
