// Write-back over rows: maps every row with the finished results of its segment. Runs after all launches that
// fold.
//% let map_features = feature_lanes * features_per_lane
//% let map_blocks = ceil_div(num_features, map_features)
//% let map_groups = 256 / feature_lanes
//% if ranges
//% use parts/segments/segment_extent.cuh
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
//% use parts/segments/find_segment.cuh
//% use parts/segments/segment_items.cuh
//% use parts/segments/ends_before.cuh
//% let most_map_blocks = num_multiprocessors * 80
//% launch map_elements grid = min(ceil_div(ceil_div(num_items, 8) * map_blocks, map_groups), most_map_blocks)  block = 256
// A group of kFeatureLanes lanes takes shares of consecutive rows in a block of features, one share after the
// other. It loads eight rows at once, and a segment's results when the segment begins. Callers pass a
// constant `is_vector`, so that no branch separates loads of vectors.
__device__ __forceinline__ void map_shares(const Inputs& inputs, const Segments& segments,
                                           const Results& results, bool is_vector)
{
    const int map_rows = 8;
    const int num_features = int(results.num_features);
    const int map_features = kFeatureLanes * kFeaturesPerLane;
    const int feature_blocks = (num_features + map_features - 1) / map_features;
    const i64 num_groups = i64(gridDim.x) * (256 / kFeatureLanes);
    const i64 most_shares = max(num_groups / feature_blocks, i64(1));
    const Index share_rows = Index(max((segments.num_items + most_shares - 1) / most_shares, i64(8)));
    const i64 num_shares = (segments.num_items + share_rows - 1) / share_rows;
    const Index last_segment = segments.num_segments - 1;
    for (i64 work = i64(blockIdx.x) * (256 / kFeatureLanes) + int(threadIdx.x) / kFeatureLanes;
         work < num_shares * feature_blocks; work += num_groups) {
        const i64 share = feature_blocks == 1 ? work : work / feature_blocks;
        const int feature = int(work - share * feature_blocks) * map_features +
                            int(threadIdx.x) % kFeatureLanes * kFeaturesPerLane;
        const Index begin = Index(share) * share_rows;
        const Index end = Index(min(i64(begin) + share_rows, i64(segments.num_items)));
        const i64 behind[1] = {i64(begin) + 1};  // segments that end before it have no rows in the share
        Index before[1];
        ends_before(segments, behind, 0, before);
        Index segment = before[0];
        Index segment_start = segment_begin(segments, segment);
        Index segment_stop = segment_end(segments, segment);
        RowResult row_results[kFeaturesPerLane];
        load_row_results(row_results, results, segment, feature, num_features, is_vector);
        for (Index first = begin; first < end; first += map_rows) {
            MapRow rows[map_rows];
            if (first + map_rows <= end) {
                #pragma unroll
                for (int k = 0; k < map_rows; ++k)
                    load_map_row(rows[k], inputs, first + k, feature, num_features, is_vector);
            } else {
                #pragma unroll
                for (int k = 0; k < map_rows; ++k)
                    if (first + k < end)
                        load_map_row(rows[k], inputs, first + k, feature, num_features, is_vector);
            }
            if (first + map_rows <= min(end, segment_stop)) {
                // All these rows exist and belong to one segment.
                #pragma unroll
                for (int k = 0; k < map_rows; ++k)
                    map_loaded(inputs, results, rows[k], row_results, first + k, first + k - segment_start,
                               segment, segment_stop - segment_start, feature, num_features, is_vector);
                continue;
            }
            #pragma unroll
            for (int k = 0; k < map_rows; ++k) {
                const Index row = first + k;
                if (row >= end)
                    break;
                if (row >= segment_stop) {
                    ++segment;
                    segment_stop = segment_end(segments, segment);
                    if (row >= segment_stop) {  // skips empty segments
                        segment = find_segment(segments, row, segment + 1, last_segment);
                        segment_stop = segment_end(segments, segment);
                    }
                    segment_start = segment_begin(segments, segment);
                    load_row_results(row_results, results, segment, feature, num_features, is_vector);
                }
                map_loaded(inputs, results, rows[k], row_results, row, row - segment_start, segment,
                           segment_stop - segment_start, feature, num_features, is_vector);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
map_elements(Inputs inputs, Segments segments, Results results)
{
    //% if features_per_lane == 1
    map_shares(inputs, segments, results, true);
    //% else
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        map_shares(inputs, segments, results, true);
    else
        map_shares(inputs, segments, results, false);
    //% end
}
//% end
