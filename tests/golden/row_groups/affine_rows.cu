// row_groups: A group of lanes reduces rows of one segment: lanes side by side hold the features
// Segments given as offsets, 32-bit indices.
// block_threads = 64
// feature_lanes = 32
// features_per_lane = 4
// row_lanes = 1
// rows_per_step = 8
// segments_per_group = 1
//
// operator affine_rows(x: row u32) -> (a: u32, b: u32) {
//   state { a: u32 = 1; b: u32 = 0 }
//   lift {
//     a = x * 2 + 1;
//     b = x * x + 5;
//   }
//   combine(p, q) {
//     a = p.a * q.a;
//     b = p.b * q.a + q.b;
//   }
// }
//
// Emitted by segfold from kernels/stages/row_groups.cu; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kBlockThreads = 64;
constexpr int kFeatureLanes = 32;
constexpr int kFeaturesPerLane = 4;
constexpr int kRowLanes = 1;
constexpr int kRowsPerStep = 8;
constexpr int kSegmentsPerGroup = 1;

struct Inputs {
    const unsigned* x;
};

struct Results {
    unsigned* a;
    unsigned* b;
    Index num_features;  // of each row
};

struct State {
    unsigned a;
    unsigned b;
};

__device__ __forceinline__ State identity()
{
    return {1, 0};
}

__device__ __forceinline__ State lift(unsigned x)
{
    return {x * 2 + 1, x * x + 5};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State p, State q)
{
    return {p.a * q.a, p.b * q.a + q.b};
}

// The results of one feature.
struct RowResult {
    unsigned a;
    unsigned b;
};

__device__ __forceinline__ RowResult finish_row(Index, Index, State state)
{
    return {state.a, state.b};
}

// Returns the number of bytes between the begins of row 0 and row `row`. A row has `row_bytes` bytes.
__device__ __forceinline__ i64 rows_apart(Index row, int row_bytes)
{
    // If the compiler widens a factor early, i64(row) * row_bytes becomes a product of 64 bits: six
    // instructions instead of one.
    i64 bytes;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(bytes) : "r"(row), "r"(row_bytes));
    return bytes;
}

// kFeaturesPerLane neighbouring features of a row.
struct alignas(kFeaturesPerLane * 4 < 16 ? kFeaturesPerLane * 4 : 16) Features_u32 {
    unsigned at[kFeaturesPerLane];
};

// Returns the address of a feature in row `row`. Its address in row 0 is `first`.
__device__ __forceinline__ const unsigned* row_at(const unsigned* first, Index row, int num_features)
{
    return (const unsigned*)((const char*)first + rows_apart(row, num_features * int(sizeof(unsigned))));
}

__device__ __forceinline__ unsigned* row_at(unsigned* first, Index row, int num_features)
{
    return (unsigned*)((char*)first + rows_apart(row, num_features * int(sizeof(unsigned))));
}

// Loads a lane's features. `count` features of the row are left from the lane's first feature on; features
// beyond them become zero.
__device__ __forceinline__ Features_u32 load_features(const unsigned* from, int count, bool is_vector)
{
    Features_u32 features = {};
    if (is_vector) {
        if (count > 0)
            features = *(const Features_u32*)from;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                features.at[v] = from[v];
    }
    return features;
}

__device__ __forceinline__ void store_features(unsigned* to, int count, bool is_vector,
                                               const Features_u32& features)
{
    if (is_vector) {
        if (count > 0)
            *(Features_u32*)to = features;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                to[v] = features.at[v];
    }
}

// One element: the numbers of its columns, and a lane's features of its rows.
struct Row {
    Features_u32 x;
};

// First step of loading an element: its numbers, which determine the places in tables of rows.
__device__ __forceinline__ void load_numbers(Row&, const Inputs&, Index)
{
}

// Second step of loading an element: the places of its rows in checked tables.
__device__ __forceinline__ void find_rows(Row&, const Inputs&, Index, Index,
                                          Index)
{
}

// Last step of loading an element: its rows. `feature` is the lane's first feature.
__device__ __forceinline__ void load_rows(Row& row, const Inputs& inputs, Index index, Index,
                                          Index, int feature, int num_features, bool is_vector)
{
    // In vectors, lanes behind the row's end load its last vector, and do not store it.
    const int first = is_vector ? min(feature, num_features - kFeaturesPerLane) : feature;
    const int count = is_vector ? kFeaturesPerLane : num_features - feature;
    row.x = load_features(row_at(inputs.x + first, index, num_features), count, is_vector);
}

// Lifts feature v of the lane's features.
__device__ __forceinline__ State lift_row(const Inputs&, const Row& row, int v, Index,
                                          Index, Index)
{
    return lift(row.x.at[v]);
}

// True if features are loaded and stored in vectors: rows consist of whole vectors and begin at aligned
// addresses.
__device__ __forceinline__ bool rows_are_vectors(const Inputs& inputs, const Results& results,
                                                 int num_features)
{
    return num_features % kFeaturesPerLane == 0
        && (unsigned long long)inputs.x % alignof(Features_u32) == 0
        && (unsigned long long)results.a % alignof(Features_u32) == 0
        && (unsigned long long)results.b % alignof(Features_u32) == 0
        ;
}

// Finishes the totals of a lane's features and writes their results.
__device__ __forceinline__ void store_row(const Results& results, Index segment, Index length, int feature,
                                          int num_features, bool is_vector,
                                          const State (&totals)[kFeaturesPerLane])
{
    Features_u32 to_a;
    Features_u32 to_b;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        const RowResult result = finish_row(segment, length, totals[v]);
        to_a.at[v] = result.a;
        to_b.at[v] = result.b;
    }
    const i64 place = i64(segment) * num_features + feature;
    const int count = num_features - feature;
    store_features(results.a + place, count, is_vector, to_a);
    store_features(results.b + place, count, is_vector, to_b);
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1] - segments.offsets[segment];
}

// Returns the segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// A group takes one segment and one block of features. kFeatureLanes lanes share a row, and kRowLanes rows
// are read side by side. Neighbouring lanes of a row read neighbouring vectors. A lane loads kRowsPerStep
// rows of each of kSegmentsPerGroup segments at once.
// Each lane folds its own rows of the whole segment; then the lanes of a feature are joined.
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
    for (Index first = 0; first < longest; first += step_rows) {
        const int stride = 1;
        const Index begin = first + row_lane * kRowsPerStep;
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
                State part = totals[k][v];
                #pragma unroll
                for (int u = 0; u < kRowsPerStep; ++u)
                    if (begin + u * stride < lengths[k])
                        part = combine(part,
                                       lift_row(inputs, rows[k][u], v, begins[k] + begin + u * stride,
                                                begin + u * stride, owners[k]));
                totals[k][v] = part;
            }
        }
    }
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
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        fold_groups(inputs, segments, results, true);
    else
        fold_groups(inputs, segments, results, false);
}
