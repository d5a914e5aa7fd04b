//% stage   row_groups
//% title   A group of lanes reduces rows of one segment: lanes side by side hold the features
//% source  Yang, Buluc & Owens 2018, Design Principles for Sparse Matrix Multiplication on the GPU, row split
//% layout  whole, uniform, offsets, ranges
//% needs   associative, rows
//% tune    block_threads = 256, 64, 128
//% tune    features_per_lane = 4, 1, 2, 8
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32
//% tune    row_lanes = 1, 2, 4, 8, 16, 32
//% tune    rows_per_step = 8, 1, 2, 4
//% tune    segments_per_group = 1, 2, 4
//% where   feature_lanes * row_lanes <= 32
//% fits    num_features % features_per_lane == 0
//% fits    num_features == 0 || feature_lanes == 1 || feature_lanes / 2 * features_per_lane < num_features
//% let     group_lanes = feature_lanes * row_lanes
//% let     feature_blocks = ceil_div(num_features, feature_lanes * features_per_lane)
//% let     block_groups = block_threads / group_lanes * segments_per_group
//% launch  reduce  grid = ceil_div(num_segments * feature_blocks, block_groups)  block = block_threads
//% use     parts/segments/segment_extent.cuh

// A group takes one segment and one block of features. kFeatureLanes lanes share a row, and kRowLanes rows
// are read side by side. Neighbouring lanes of a row read neighbouring vectors. A lane loads kRowsPerStep
// rows of each of kSegmentsPerGroup segments at once.
//% if commutative || row_lanes == 1
// Each lane folds its own rows of the whole segment; then the lanes of a feature are joined.
//% else
// In each step, a lane folds consecutive rows, and the lanes of a feature are joined in order.
//% end
// Callers pass a constant `is_vector`, so that no branch separates loads of vectors.
__device__ __forceinline__ void fold_groups(const Inputs& inputs, const Segments& segments,
                                            const Results& results, bool is_vector)
{
    const int groups = kBlockThreads / (kFeatureLanes * kRowLanes);
    const int step_rows = kRowLanes * kRowsPerStep;
    const int num_features = int(results.num_features);
    const int group_features = kFeatureLanes * kFeaturesPerLane;
    const int feature_blocks = (num_features + group_features - 1) / group_features;
    const int row_lane = int(threadIdx.x) / kFeatureLanes % kRowLanes;
    const int group = int(threadIdx.x) / (kFeatureLanes * kRowLanes);
    const i64 num_works = i64(segments.num_segments) * feature_blocks;
    State totals[kSegmentsPerGroup][kFeaturesPerLane];
    Index owners[kSegmentsPerGroup];
    Index begins[kSegmentsPerGroup];
    Index lengths[kSegmentsPerGroup];
    int features[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups behind the last segment fold it again and store nothing.
        const i64 work = min((i64(blockIdx.x) * kSegmentsPerGroup + k) * groups + group, num_works - 1);
        owners[k] = Index(feature_blocks == 1 ? work : work / feature_blocks);
        features[k] = int(work - i64(owners[k]) * feature_blocks) * group_features;
        features[k] += int(threadIdx.x) % kFeatureLanes * kFeaturesPerLane;
        begins[k] = segment_first(segments, owners[k]);
        lengths[k] = segment_length(segments, owners[k]);
        longest = max(longest, lengths[k]);
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            totals[k][v] = identity();
    }
    //% if commutative || row_lanes == 1
    for (Index first = 0; first < longest; first += step_rows) {
    //% else
    // All lanes of a warp take part in the shuffles, so they go on until the warp's longest segment ends.
    for (Index first = 0; __any_sync(kFullMask, first < longest); first += step_rows) {
    //% end
        //% if commutative
        const int stride = kRowLanes;
        const Index begin = first + row_lane;
        //% else
        const int stride = 1;
        const Index begin = first + row_lane * kRowsPerStep;
        //% end
        Row rows[kSegmentsPerGroup][kRowsPerStep];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            // Behind the segment's end, the numbers of its last row are loaded again. One condition then
            // covers all loads, so that all are under way at once.
            if (begin < lengths[k]) {
                #pragma unroll
                for (int u = 0; u < kRowsPerStep; ++u)
                    load_numbers(rows[k][u], inputs, begins[k] + min(begin + u * stride, lengths[k] - 1));
            }
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            if (begin < lengths[k]) {
                #pragma unroll
                for (int u = 0; u < kRowsPerStep; ++u) {
                    const Index position = min(begin + u * stride, lengths[k] - 1);
                    find_rows(rows[k][u], inputs, begins[k] + position, position, owners[k]);
                }
            }
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u)
                if (begin + u * stride < lengths[k])
                    load_rows(rows[k][u], inputs, begins[k] + begin + u * stride, begin + u * stride,
                              owners[k], features[k], num_features, is_vector);
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            #pragma unroll
            for (int v = 0; v < kFeaturesPerLane; ++v) {
                //% if commutative || row_lanes == 1
                State part = totals[k][v];
                //% else
                State part = identity();
                //% end
                #pragma unroll
                for (int u = 0; u < kRowsPerStep; ++u)
                    if (begin + u * stride < lengths[k])
                        part = combine(part,
                                       lift_row(inputs, rows[k][u], v, begins[k] + begin + u * stride,
                                                begin + u * stride, owners[k]));
                //% if commutative || row_lanes == 1
                totals[k][v] = part;
                //% else
                #pragma unroll
                for (int delta = kFeatureLanes; delta < kFeatureLanes * kRowLanes; delta *= 2)
                    part = combine(part, shuffle_down(part, delta));
                totals[k][v] = combine(totals[k][v], part);  // right only in lanes whose row_lane is 0
                //% end
            }
        }
    }
    //% if commutative && row_lanes > 1
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            #pragma unroll
            for (int delta = kFeatureLanes; delta < kFeatureLanes * kRowLanes; delta *= 2)
                totals[k][v] = combine(totals[k][v], shuffle_down(totals[k][v], delta));
        }
    }
    //% end
    if (row_lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if ((i64(blockIdx.x) * kSegmentsPerGroup + k) * groups + group < num_works)
            store_row(results, owners[k], lengths[k], features[k], num_features, is_vector, totals[k]);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs, Segments segments, Results results)
{
    //% if features_per_lane == 1
    fold_groups(inputs, segments, results, true);
    //% else
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        fold_groups(inputs, segments, results, true);
    else
        fold_groups(inputs, segments, results, false);
    //% end
}
