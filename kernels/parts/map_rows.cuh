// Write-back over rows: every row once more, with the finished results of its segment. All launches that fold
// come before this one.
//% let map_features = feature_lanes * features_per_lane
//% let map_blocks = ceil_div(num_features, map_features)
//% let map_groups = 256 / feature_lanes
//% if ranges
//% use parts/segment_extent.cuh
//% launch map_elements grid = ceil_div(num_segments * map_blocks, map_groups)  block = 256
// kFeatureLanes lanes take a segment and a block of features.
extern "C" __global__ void __launch_bounds__(256)
map_elements(Inputs inputs, Segments segments, Results results)
{
    const int num_features = int(results.num_features);
    const int map_features = kFeatureLanes * kFeaturesPerLane;
    const int feature_blocks = (num_features + map_features - 1) / map_features;
    const i64 work = i64(blockIdx.x) * (256 / kFeatureLanes) + int(threadIdx.x) / kFeatureLanes;
    if (work >= i64(segments.num_segments) * feature_blocks)
        return;
    const Index segment = Index(work / feature_blocks);
    const int feature = int(work % feature_blocks) * map_features +
                        int(threadIdx.x) % kFeatureLanes * kFeaturesPerLane;
    const bool is_vector = rows_are_vectors(inputs, results, num_features);
    const Index begin = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    for (Index position = 0; position < length; ++position)
        map_row(inputs, results, begin + position, position, segment, length, feature, num_features, is_vector);
}
//% else
//% use parts/find_segment.cuh
//% use parts/segment_items.cuh
//% launch map_elements grid = ceil_div(ceil_div(num_items, 8) * map_blocks, map_groups)  block = 256
// kFeatureLanes lanes take eight consecutive rows and a block of features.
extern "C" __global__ void __launch_bounds__(256)
map_elements(Inputs inputs, Segments segments, Results results)
{
    const int map_rows = 8;
    const int num_features = int(results.num_features);
    const int map_features = kFeatureLanes * kFeaturesPerLane;
    const int feature_blocks = (num_features + map_features - 1) / map_features;
    const i64 work = i64(blockIdx.x) * (256 / kFeatureLanes) + int(threadIdx.x) / kFeatureLanes;
    const i64 first_row = work / feature_blocks * map_rows;
    if (first_row >= segments.num_items)
        return;
    const int feature = int(work % feature_blocks) * map_features +
                        int(threadIdx.x) % kFeatureLanes * kFeaturesPerLane;
    const bool is_vector = rows_are_vectors(inputs, results, num_features);
    const Index begin = Index(first_row);
    const Index end = min(begin + map_rows, segments.num_items);
    Index segment = find_segment(segments, begin, 0, segments.num_segments - 1);
    Index segment_start = segment_begin(segments, segment);
    Index segment_stop = segment_end(segments, segment);
    for (Index row = begin; row < end; ++row) {
        if (row >= segment_stop) {
            segment = find_segment(segments, row, segment + 1, segments.num_segments - 1);
            segment_start = segment_begin(segments, segment);
            segment_stop = segment_end(segments, segment);
        }
        map_row(inputs, results, row, row - segment_start, segment, segment_stop - segment_start, feature,
                num_features, is_vector);
    }
}
//% end
