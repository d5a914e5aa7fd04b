// fused_row_groups: A group of lanes folds the rows of one segment, keeps them in shared memory, and maps them
// Segments given as offsets, 32-bit indices.
// block_threads = 32
// feature_lanes = 8
// features_per_lane = 4
// kept_steps = 4
// row_lanes = 4
// rows_per_step = 4
// segments_per_group = 1
//
// operator told_rows(x: row u32, weight: u16) -> (a: u32, b: u32, each told: u64) {
//   state { a: u32 = 1; b: u32 = 0 }
//   lift {
//     a = x * 2 + 1;
//     b = x + u32(weight);
//   }
//   combine(p, q) {
//     a = p.a * q.a;
//     b = p.b * q.a + q.b;
//   }
//   map u64(a) * 31 + u64(b) * 17 + u64(x) * 7 + u64(weight) + u64(position) * 1000003 + u64(index)
// }
//
// Emitted by segfold from kernels/stages/fused_row_groups.cu; edit that file instead.

using Index = int;
using u16 = unsigned short;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kBlockThreads = 32;
constexpr int kFeatureLanes = 8;
constexpr int kFeaturesPerLane = 4;
constexpr int kKeptSteps = 4;
constexpr int kRowLanes = 4;
constexpr int kRowsPerStep = 4;
constexpr int kSegmentsPerGroup = 1;
constexpr int kResidentBlocks = 32;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

// Returns x, and hides its origin from compilers, because they forget that some arithmetic wraps.
__device__ __forceinline__ int opaque(int x)
{
    asm("" : "+r"(x));
    return x;
}

struct Inputs {
    const unsigned* x;
    const u16* weight;
};

struct Results {
    unsigned* a;
    unsigned* b;
    u64* told;  // of each element
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

__device__ __forceinline__ State lift(unsigned x, u16 weight)
{
    return {x * 2 + 1, x + unsigned(opaque(weight))};
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

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.a = __shfl_down_sync(kFullMask, state.a, delta);
    state.b = __shfl_down_sync(kFullMask, state.b, delta);
    return state;
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    state.a = __shfl_sync(kFullMask, state.a, lane);
    state.b = __shfl_sync(kFullMask, state.b, lane);
    return state;
}

// The outputs of one element.
struct Mapped {
    u64 told;
};

// What an element gets, from the results of its segment.
__device__ __forceinline__ Mapped map_element(unsigned x, u16 weight, unsigned a, unsigned b, Index index,
    Index position)
{
    return {u64(a) * 31 + u64(b) * 17 + u64(x) * 7 + u64(opaque(weight)) + u64(position) * 1000003
        + u64(index)};
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

// kFeaturesPerLane neighbouring features of a row.
struct alignas(kFeaturesPerLane * 8 < 16 ? kFeaturesPerLane * 8 : 16) Features_u64 {
    u64 at[kFeaturesPerLane];
};

// Returns the address of a feature in row `row`. Its address in row 0 is `first`.
__device__ __forceinline__ const u64* row_at(const u64* first, Index row, int num_features)
{
    return (const u64*)((const char*)first + rows_apart(row, num_features * int(sizeof(u64))));
}

__device__ __forceinline__ u64* row_at(u64* first, Index row, int num_features)
{
    return (u64*)((char*)first + rows_apart(row, num_features * int(sizeof(u64))));
}

// Loads a lane's features. `count` features of the row are left from the lane's first feature on; features
// beyond them become zero.
__device__ __forceinline__ Features_u64 load_features(const u64* from, int count, bool is_vector)
{
    Features_u64 features = {};
    if (is_vector) {
        if (count > 0)
            features = *(const Features_u64*)from;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                features.at[v] = from[v];
    }
    return features;
}

__device__ __forceinline__ void store_features(u64* to, int count, bool is_vector,
                                               const Features_u64& features)
{
    if (is_vector) {
        if (count > 0)
            *(Features_u64*)to = features;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                to[v] = features.at[v];
    }
}

// One element: the numbers of its columns, and a lane's features of its rows.
struct Row {
    u16 weight;
    Features_u32 x;
};

// First step of loading an element: its numbers, which determine the places in tables of rows.
__device__ __forceinline__ void load_numbers(Row& row, const Inputs& inputs, Index index)
{
    row.weight = inputs.weight[index];
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
    return lift(row.x.at[v], row.weight);
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
        && (unsigned long long)results.told % alignof(Features_u64) == 0
        ;
}

// Writes the finished results of a lane's features.
__device__ __forceinline__ void store_results(const Results& results, Index segment, int feature,
                                              int num_features, bool is_vector,
                                              const RowResult (&row_results)[kFeaturesPerLane])
{
    const i64 place = i64(segment) * num_features + feature;
    const int count = num_features - feature;
    Features_u32 to_a;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        to_a.at[v] = row_results[v].a;
    store_features(results.a + place, count, is_vector, to_a);
    Features_u32 to_b;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        to_b.at[v] = row_results[v].b;
    store_features(results.b + place, count, is_vector, to_b);
}

// Maps a lane's features of one element. `row` holds the inputs of lift.
__device__ __forceinline__ void map_kept(const Inputs&, const Results& results, const Row& row,
                                           const RowResult (&row_results)[kFeaturesPerLane], Index index,
                                           Index position, Index, Index, int feature,
                                           int num_features, bool is_vector)
{
    const int count = num_features - feature;
    Features_u64 to_told;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        const Mapped mapped = map_element(row.x.at[v], row.weight, row_results[v].a, row_results[v].b, index,
            position);
        to_told.at[v] = mapped.told;
    }
    store_features(row_at(results.told + feature, index, num_features), count, is_vector, to_told);
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


constexpr int kStepRows = kRowLanes * kRowsPerStep;  // rows that a group loads in one step
constexpr int kStride = 1;                           // a lane's rows in a step are consecutive
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
// In each step, a lane folds consecutive rows, and the lanes of a feature are joined in order.
// Callers pass a constant `is_vector`, so that no branch separates loads of vectors.
__device__ __forceinline__ void fold_and_map(const Inputs& inputs, const Results& results, Kept& kept,
                                             const Part& part, bool is_stored, bool is_vector)
{
    const int num_features = int(results.num_features);
    const int row_lane = int(threadIdx.x) / kFeatureLanes % kRowLanes;
    const Index mine = row_lane * kRowsPerStep;
    Row rows[kRowsPerStep];
    State totals[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        totals[v] = identity();
    // All lanes of a warp take part in the shuffles, so they go on until the warp's longest segment ends.
    for (Index first = 0; __any_sync(kFullMask, first < part.length); first += kStepRows) {
        const Index position = first + mine;
        load_step(rows, inputs, part, position, num_features, is_vector);
        if (first < kKept * kStepRows) {
            #pragma unroll
            for (int k = 0; k < kRowsPerStep; ++k)
                if (position + k * kStride < part.length)
                    kept.rows[first / kStepRows][k][threadIdx.x] = rows[k];
        }
        State parts[kFeaturesPerLane];
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            parts[v] = identity();
        #pragma unroll
        for (int k = 0; k < kRowsPerStep; ++k) {
            if (position + k * kStride >= part.length)
                continue;
            #pragma unroll
            for (int v = 0; v < kFeaturesPerLane; ++v) {
                const State state = lift_row(inputs, rows[k], v, part.begin + position + k * kStride,
                                             position + k * kStride, part.segment);
                parts[v] = combine(parts[v], state);
            }
        }
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            #pragma unroll
            for (int delta = kFeatureLanes; delta < kFeatureLanes * kRowLanes; delta *= 2)
                parts[v] = combine(parts[v], shuffle_down(parts[v], delta));
            totals[v] = combine(totals[v], parts[v]);  // right only in lanes whose row_lane is 0
        }
    }
    RowResult row_results[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        // All lanes of a feature get the total of their first lane.
        totals[v] = shuffle(totals[v], int(threadIdx.x) % kWarpThreads - row_lane * kFeatureLanes);
        row_results[v] = finish_row(part.segment, part.length, totals[v]);
    }
    if (!is_stored)
        return;
    if (row_lane == 0)
        store_results(results, part.segment, part.feature, num_features, is_vector, row_results);
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
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        take_segments(inputs, segments, results, kept, true);
    else
        take_segments(inputs, segments, results, kept, false);
}
