//% stage   fused_row_groups
//% title   A group of lanes folds the rows of one segment, keeps them in shared memory, and maps them
//% after   row_groups
//% source  Milakov & Gimelshein 2018, Online Normalizer Calculation for Softmax
//% layout  whole, uniform, offsets, ranges
//% needs   associative, rows, map
//% tune    block_threads = 32, 64, 128
//% tune    features_per_lane = 4, 1, 2, 8
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32
//% tune    row_lanes = 1, 2, 4, 8, 16, 32
//% tune    rows_per_step = 4, 1, 2, 8
//% tune    kept_steps = 4, 1, 2, 8, 16
//% tune    segments_per_group = 1, 2, 4, 8
//% where   feature_lanes * row_lanes <= 32
//% fits    num_features % features_per_lane == 0
//% fits    num_features == 0 || feature_lanes == 1 || feature_lanes / 2 * features_per_lane < num_features
//% let     group_lanes = feature_lanes * row_lanes
//% let     feature_blocks = ceil_div(num_features, feature_lanes * features_per_lane)
//% let     block_groups = block_threads / group_lanes * segments_per_group
//% let     resident_blocks = state_bytes <= 8 ? 1024 / block_threads : 1
//% launch  reduce  grid = ceil_div(num_segments * feature_blocks, block_groups)  block = block_threads
//% use     parts/segments/segment_extent.cuh
//% use     parts/reduce/join_row_lanes.cuh

constexpr int kStepRows = kRowLanes * kRowsPerStep;  // rows that a group loads in one step
//% if commutative
constexpr int kStride = kRowLanes;                   // a lane's rows in a step are kRowLanes apart
//% else
constexpr int kStride = 1;                           // a lane's rows in a step are consecutive
//% end
constexpr int kRoom = 24576 / (kBlockThreads * kRowsPerStep * int(sizeof(Row)));  // steps that fit in 24 KiB
constexpr int kKept = kRoom < 1 ? 1 : kRoom < kKeptSteps ? kRoom : kKeptSteps;

// The rows of each lane's first kKept steps, kept in shared memory. A lane reads only rows that it wrote
// itself, so no barrier is needed.
struct Kept {
    Row rows[kKept][kRowsPerStep][kBlockThreads];
};

// The work of a lane: a segment, and some of its features.
struct Part {
    i64 work;  // number among all pairs of a segment and a block of features
    Index segment;
    Index begin;
    Index length;
    int feature;  // the lane's first feature
};

// Returns this lane's part of the pair `work` of a segment and a block of features. Groups behind the last
// pair fold the last one again and store nothing.
__device__ __forceinline__ Part part_of(const Segments& segments, i64 work, int feature_blocks)
{
    const i64 known = min(work, i64(segments.num_segments) * feature_blocks - 1);
    Part part;
    part.work = work;
    part.segment = Index(known);
    part.feature = int(threadIdx.x) % kFeatureLanes * kFeaturesPerLane;
    if (feature_blocks > 1) {
        part.segment = Index(known / feature_blocks);
        part.feature += int(known - i64(part.segment) * feature_blocks) * kFeatureLanes * kFeaturesPerLane;
    }
    part.begin = segment_first(segments, part.segment);
    part.length = segment_length(segments, part.segment);
    return part;
}

// Loads a lane's rows of one step. `position` is the place of the first row in the segment. Rows behind the
// segment's end are not loaded.
__device__ __forceinline__ void load_step(Row (&rows)[kRowsPerStep], const Inputs& inputs, const Part& part,
                                          Index position, int num_features, bool is_vector)
{
    // Behind the segment's end, the numbers of its last row are loaded again. One condition then covers all
    // loads, so that all are under way at once.
    if (position < part.length) {
        #pragma unroll
        for (int k = 0; k < kRowsPerStep; ++k)
            load_numbers(rows[k], inputs, part.begin + min(position + k * kStride, part.length - 1));
        #pragma unroll
        for (int k = 0; k < kRowsPerStep; ++k) {
            const Index its_position = min(position + k * kStride, part.length - 1);
            find_rows(rows[k], inputs, part.begin + its_position, its_position, part.segment);
        }
    }
    #pragma unroll
    for (int k = 0; k < kRowsPerStep; ++k)
        if (position + k * kStride < part.length)
            load_rows(rows[k], inputs, part.begin + position + k * kStride, position + k * kStride,
                      part.segment, part.feature, num_features, is_vector);
}

// A group takes one segment and one block of features. kFeatureLanes lanes share a row, and kRowLanes rows
// are read side by side. A lane loads kRowsPerStep rows at once, folds them step by step, and keeps the rows
// of its first kKept steps. When the results of its features are known, it maps its rows. If the segment is
// longer, its other rows are read once more.
//% if commutative || row_lanes == 1
// Each lane folds its own rows of the whole segment; then the lanes of a feature are joined.
//% else
// In each step, a lane folds consecutive rows, and the lanes of a feature are joined in order.
//% end
// Callers pass a constant `is_vector`, so that no branch separates loads of vectors.
__device__ __forceinline__ void fold_and_map(const Inputs& inputs, const Results& results, Kept& kept,
                                             const Part& part, bool is_stored, bool is_vector)
{
    const int num_features = int(results.num_features);
    const int row_lane = int(threadIdx.x) / kFeatureLanes % kRowLanes;
    //% if commutative
    const Index mine = row_lane;  // the lane's first row in a step
    //% else
    const Index mine = row_lane * kRowsPerStep;
    //% end
    Row rows[kRowsPerStep];
    State totals[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        totals[v] = identity();
    //% if commutative || row_lanes == 1
    for (Index first = 0; first < part.length; first += kStepRows) {
    //% else
    // All lanes of a warp take part in the shuffles, so they go on until the warp's longest segment ends.
    for (Index first = 0; __any_sync(kFullMask, first < part.length); first += kStepRows) {
    //% end
        const Index position = first + mine;
        load_step(rows, inputs, part, position, num_features, is_vector);
        if (first < kKept * kStepRows) {
            #pragma unroll
            for (int k = 0; k < kRowsPerStep; ++k)
                if (position + k * kStride < part.length)
                    kept.rows[first / kStepRows][k][threadIdx.x] = rows[k];
        }
        //% if !commutative && row_lanes > 1
        State parts[kFeaturesPerLane];
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            parts[v] = identity();
        //% end
        #pragma unroll
        for (int k = 0; k < kRowsPerStep; ++k) {
            if (position + k * kStride >= part.length)
                continue;
            #pragma unroll
            for (int v = 0; v < kFeaturesPerLane; ++v) {
                const State state = lift_row(inputs, rows[k], v, part.begin + position + k * kStride,
                                             position + k * kStride, part.segment);
                //% if commutative || row_lanes == 1
                totals[v] = combine(totals[v], state);
                //% else
                parts[v] = combine(parts[v], state);
                //% end
            }
        }
        //% if !commutative && row_lanes > 1
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            #pragma unroll
            for (int delta = kFeatureLanes; delta < kFeatureLanes * kRowLanes; delta *= 2)
                parts[v] = combine(parts[v], shuffle_down(parts[v], delta));
            totals[v] = combine(totals[v], parts[v]);  // right only in lanes whose row_lane is 0
        }
        //% end
    }
    //% if commutative && row_lanes > 1
    join_row_lanes(totals);
    //% end
    RowResult row_results[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        //% if !commutative && row_lanes > 1
        // All lanes of a feature get the total of their first lane.
        totals[v] = shuffle(totals[v], int(threadIdx.x) % kWarpThreads - row_lane * kFeatureLanes);
        //% end
        row_results[v] = finish_row(part.segment, part.length, totals[v]);
    }
    if (!is_stored)
        return;
    //% if keeps_results
    if (row_lane == 0)
        store_results(results, part.segment, part.feature, num_features, is_vector, row_results);
    //% end
    for (Index first = 0; first < part.length; first += kStepRows) {
        const Index position = first + mine;
        if (first < kKept * kStepRows) {
            #pragma unroll
            for (int k = 0; k < kRowsPerStep; ++k)
                if (position + k * kStride < part.length)
                    rows[k] = kept.rows[first / kStepRows][k][threadIdx.x];
        } else {
            load_step(rows, inputs, part, position, num_features, is_vector);
        }
        #pragma unroll
        for (int k = 0; k < kRowsPerStep; ++k)
            if (position + k * kStride < part.length)
                map_kept(inputs, results, rows[k], row_results, part.begin + position + k * kStride,
                         position + k * kStride, part.segment, part.length, part.feature, num_features,
                         is_vector);
    }
}

// A group takes kSegmentsPerGroup segments, one after the other. It looks up the extent of the next segment
// before it folds the current one.
__device__ __forceinline__ void take_segments(const Inputs& inputs, const Segments& segments,
                                              const Results& results, Kept& kept, bool is_vector)
{
    const int groups = kBlockThreads / (kFeatureLanes * kRowLanes);
    const int group_features = kFeatureLanes * kFeaturesPerLane;
    const int feature_blocks = (int(results.num_features) + group_features - 1) / group_features;
    const i64 num_works = i64(segments.num_segments) * feature_blocks;
    const i64 first = i64(blockIdx.x) * kSegmentsPerGroup * groups;
    const int group = int(threadIdx.x) / (kFeatureLanes * kRowLanes);
    Part part = part_of(segments, first + group, feature_blocks);
    #pragma unroll 1
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        Part next = part;
        if (k + 1 < kSegmentsPerGroup)
            next = part_of(segments, first + (k + 1) * groups + group, feature_blocks);
        fold_and_map(inputs, results, kept, part, part.work < num_works, is_vector);
        part = next;
    }
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, kResidentBlocks)
reduce(Inputs inputs, Segments segments, Results results)
{
    __shared__ Kept kept;
    //% if features_per_lane == 1
    take_segments(inputs, segments, results, kept, true);
    //% else
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        take_segments(inputs, segments, results, kept, true);
    else
        take_segments(inputs, segments, results, kept, false);
    //% end
}
