// row_stream: Lanes side by side take an equal share of rows and segment ends
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// blocks_per_multiprocessor = 4
// feature_lanes = 32
// features_per_lane = 2
// rows_per_step = 8
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
// Emitted by segfold from kernels/stages/row_stream.cu; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kBlockThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;
constexpr int kFeatureLanes = 32;
constexpr int kFeaturesPerLane = 2;
constexpr int kRowsPerStep = 8;
constexpr int kJoinThreads = 1024;
constexpr int kJoinBlocks = 1;
constexpr int kJoinReads = 4;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

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

// Finishes the total of one feature, and writes each of its results at `place`.
__device__ __forceinline__ void store_feature(const Results& results, Index segment, Index length, i64 place,
                                              State total)
{
    const RowResult result = finish_row(segment, length, total);
    results.a[place] = result.a;
    results.b[place] = result.b;
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// Returns the segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Returns one past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1];
}

// For each of `places`, counts the segments that end before it. Segment s ends at place segment_end(s) +
// weight * s, so empty segments take up places too. The kFeatureLanes lanes of a group must call it together.
// A round tests one end per lane and place, so 16 lanes need 5 rounds for a million ends.
template <int kPlaces>
__device__ __forceinline__ void ends_before(const Segments& segments, const i64 (&places)[kPlaces], int weight,
                                            Index (&counts)[kPlaces])
{
    const int lane = int(threadIdx.x) % kFeatureLanes;
    const int first_lane = int(threadIdx.x) % kWarpThreads - lane;
    const unsigned group = kFullMask >> (kWarpThreads - kFeatureLanes) << first_lane;
    Index highs[kPlaces];  // the answer is one of counts[k] to highs[k]
    #pragma unroll
    for (int k = 0; k < kPlaces; ++k) {
        counts[k] = 0;
        highs[k] = segments.num_segments;
    }
    for (bool is_found = false; !is_found;) {
        is_found = true;
        #pragma unroll
        for (int k = 0; k < kPlaces; ++k) {
            const Index step = (highs[k] - counts[k]) / (kFeatureLanes + 1) + 1;
            const Index probe = counts[k] + (lane + 1) * step - 1;
            const bool is_before = probe < highs[k] &&
                                   i64(segment_end(segments, probe)) + i64(weight) * probe < places[k];
            counts[k] += __popc(__ballot_sync(group, is_before) >> first_lane) * step;
            highs[k] = min(highs[k], counts[k] + step - 1);
            is_found = is_found && counts[k] >= highs[k];
        }
    }
}

constexpr int kGroupFeatures = kFeatureLanes * kFeaturesPerLane;
constexpr int kFewTails = 8;  // most tails that a single thread joins

// Returns the number of steps of a share. Each row is a step, and so is each end of a segment, which follows
// the segment's rows.
__device__ __forceinline__ i64 share_length(const Segments& segments, Index num_shares)
{
    return (i64(segments.num_items) + segments.num_segments + num_shares - 1) / num_shares;
}

// Returns the first lane of this lane's group in the warp.
__device__ __forceinline__ int first_group_lane()
{
    return int(threadIdx.x) % kWarpThreads / kFeatureLanes * kFeatureLanes;
}

__device__ __forceinline__ unsigned group_mask()
{
    return kFullMask >> (kWarpThreads - kFeatureLanes) << first_group_lane();
}

// Ends of consecutive segments, one in each lane of a group. The first lane has the end of segment `first`.
// `following` has the next kFeatureLanes ends, which are loaded long before they are needed.
struct ComingEnds {
    Index first;
    Index mine;
    Index following;
};

// Returns the end of this lane's segment. The group's first lane has segment `first`. Segments from `last` on
// have the end `none`.
__device__ __forceinline__ Index load_end(const Segments& segments, Index first, Index last, Index none)
{
    const Index mine = first + int(threadIdx.x) % kFeatureLanes;
    return mine < last ? segment_end(segments, mine) : none;
}

// Returns the end of `segment`. Callers ask for one segment after the other.
__device__ __forceinline__ Index take_end(ComingEnds& ends, const Segments& segments, Index segment,
                                          Index last, Index none)
{
    if (segment - ends.first == kFeatureLanes) {
        ends.first = segment;
        ends.mine = ends.following;
        ends.following = load_end(segments, segment + kFeatureLanes, last, none);
    }
    return __shfl_sync(group_mask(), ends.mine, first_group_lane() + int(segment - ends.first));
}

// Loads the rows of `count` consecutive elements from `first` on, whose numbers are loaded. If `count` is
// less than kRowsPerStep, the last row is loaded again, so that no condition separates the loads.
__device__ __forceinline__ void load_step_rows(Row (&rows)[kRowsPerStep], const Inputs& inputs, Index first,
                                               int count, int feature, int num_features, bool is_vector)
{
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        find_rows(rows[u], inputs, first + min(u, count - 1), 0, 0);
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        load_rows(rows[u], inputs, first + min(u, count - 1), 0, 0, feature, num_features, is_vector);
}

// Loads `count` consecutive elements from `first` on.
__device__ __forceinline__ void load_step(Row (&rows)[kRowsPerStep], const Inputs& inputs, Index first,
                                          int count, int feature, int num_features, bool is_vector)
{
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        load_numbers(rows[u], inputs, first + min(u, count - 1));
    load_step_rows(rows, inputs, first, count, feature, num_features, is_vector);
}

// kFeatureLanes lanes take one share of rows and ends, and one block of features. They load kRowsPerStep rows
// at once and fold them from left to right. The part of a segment that began in an earlier share goes to
// `heads`. The part of a segment that goes on behind the share goes to `tails`. shares[0] is the number of
// shares. Two numbers for each share follow: the share in which the segment of its head began, or -1 if it
// has no head, and that segment. Callers pass a constant `is_vector`, so that no branch separates loads of
// vectors.
__device__ __forceinline__ void fold_share(const Inputs& inputs, const Segments& segments, Index* shares,
                                           State* heads, State* tails, const Results& results,
                                           bool is_vector)
{
    const int num_features = int(results.num_features);
    const int feature_blocks = (num_features + kGroupFeatures - 1) / kGroupFeatures;
    const int groups = kBlockThreads / kFeatureLanes;
    const Index group = Index(blockIdx.x) * groups + int(threadIdx.x) / kFeatureLanes;
    const Index num_shares = Index(gridDim.x) * groups / feature_blocks;
    const Index share = group / feature_blocks;
    if (share >= num_shares)
        return;
    const int lane = int(threadIdx.x) % kFeatureLanes;
    const int feature = int(group % feature_blocks) * kGroupFeatures + lane * kFeaturesPerLane;
    const i64 length = share_length(segments, num_shares);
    const i64 total = i64(segments.num_items) + segments.num_segments;
    const i64 place = min(share * length, total);
    const i64 stop = min(place + length, total);
    const i64 cuts[2] = {place, stop};
    Index ends[2];
    ends_before(segments, cuts, 1, ends);
    Index segment = ends[0];
    const Index last = ends[1];
    const Index begin = Index(place - segment);
    const Index end = Index(stop - last);
    Index segment_start = segment < segments.num_segments ? segment_begin(segments, segment) : begin;
    bool is_cut = segment_start < begin;
    if (feature == 0) {
        if (share == 0)
            shares[0] = num_shares;
        const bool is_joined = is_cut && segment < last;
        shares[1 + 2 * share] = is_joined ? Index((i64(segment_start) + segment) / length) : -1;
        shares[2 + 2 * share] = segment;
    }
    State totals[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        totals[v] = identity();
    ComingEnds coming = {segment - kFeatureLanes, 0, load_end(segments, segment, last, end)};
    Index next = take_end(coming, segments, segment, last, end);  // the end of `segment`
    for (Index row = begin; segment < last || row < end; row += kRowsPerStep) {
        // Rows are loaded before the ends among them are looked up, so that the groups of a warp wait only
        // once.
        Row rows[kRowsPerStep];
        const Index left = end - row;
        const bool is_whole = is_vector && left >= kRowsPerStep;
        // In a whole step, `count` is a constant, so that each address is the first address plus a constant.
        if (is_whole)
            load_step(rows, inputs, row, kRowsPerStep, feature, num_features, is_vector);
        else if (left > 0)
            load_step(rows, inputs, row, int(min(left, Index(kRowsPerStep))), feature, num_features,
                      is_vector);
        if (is_whole && next >= row + kRowsPerStep) {  // all these rows belong to one segment
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u) {
                #pragma unroll
                for (int v = 0; v < kFeaturesPerLane; ++v)
                    totals[v] = combine(totals[v], lift_row(inputs, rows[u], v, row + u,
                                                            row + u - segment_start, segment));
            }
            continue;
        }
        #pragma unroll
        for (int u = 0; u < kRowsPerStep; ++u) {
            // Writes out every segment that ends before this row. After the share's last row, writes out
            // every remaining segment that ends in the share.
            while (next <= row + u && segment < last) {
                if (is_cut) {
                    #pragma unroll
                    for (int v = 0; v < kFeaturesPerLane; ++v)
                        if (feature + v < num_features)
                            heads[i64(share) * num_features + feature + v] = totals[v];
                } else {
                    store_row(results, segment, next - segment_start, feature, num_features, is_vector,
                              totals);
                }
                is_cut = false;
                #pragma unroll
                for (int v = 0; v < kFeaturesPerLane; ++v)
                    totals[v] = identity();
                ++segment;
                segment_start = next;
                next = take_end(coming, segments, segment, last, end);
            }
            if (row + u < end) {
                #pragma unroll
                for (int v = 0; v < kFeaturesPerLane; ++v)
                    totals[v] = combine(totals[v], lift_row(inputs, rows[u], v, row + u,
                                                            row + u - segment_start, segment));
            }
        }
    }
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        if (feature + v < num_features)
            tails[i64(share) * num_features + feature + v] = totals[v];
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, kBlocksPerMultiprocessor)
reduce(Inputs inputs,
       Segments segments,
       Index* shares,
       State* heads,
       State* tails,
       Results results)
{
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        fold_share(inputs, segments, shares, heads, tails, results, true);
    else
        fold_share(inputs, segments, shares, heads, tails, results, false);
}

// Joins the tails of one feature of `count` consecutive shares; `tails` points to the first tail.
__device__ __forceinline__ State join_tails(const State* tails, Index count, int num_features)
{
    if (count == 1)
        return *tails;
    State total = identity();
    for (Index s = 0; s < count; s += kJoinReads) {
        State some[kJoinReads];
        #pragma unroll
        for (int k = 0; k < kJoinReads; ++k)
            some[k] = tails[i64(min(s + k, count - 1)) * num_features];
        #pragma unroll
        for (int k = 0; k < kJoinReads; ++k)
            if (s + k < count)
                total = combine(total, some[k]);
    }
    return total;
}

// A segment with many tails whose head is in a share of this block.
struct Many {
    Index first;  // the share in which the segment began
    Index share;  // the share in which it ends
    Index segment;
    Index length;
};

// A block takes some consecutive shares and completes the segments of their heads. The total of such a
// segment consists of the tails from the share in which it began, in order, and of the head. If there are few
// tails, one thread joins them for one feature. If there are many, the whole block joins them: each thread
// takes consecutive tails, kJoinReads at a time. A giant segment has thousands of tails, and the launch lasts
// as long as their join. So blocks are large and load what they need in few steps.
extern "C" __global__ void __launch_bounds__(kJoinThreads, kJoinBlocks)
join(Segments segments, const Index* shares, const State* heads, const State* tails, Results results)
{
    __shared__ State parts[kJoinThreads];
    // Heads with many tails are more than kFewTails shares apart.
    __shared__ Many many[(kJoinThreads + kFewTails) / (kFewTails + 1)];
    __shared__ int num_many;
    if (threadIdx.x == 0)
        num_many = 0;
    __syncthreads();  // num_many is 0 before threads count it up
    const int num_features = int(results.num_features);
    const Index num_shares = shares[0];
    const int width = min(num_features, kJoinThreads);
    const int block_shares = kJoinThreads / width;
    const int column = int(threadIdx.x) % width;
    const int chunk = int(threadIdx.x) / width;
    const Index first_share = Index(blockIdx.x) * block_shares;
    bool is_many = false;
    if (chunk < block_shares && first_share + chunk < num_shares) {
        const Index share = first_share + chunk;
        const Index first = shares[1 + 2 * share];
        const Index segment = shares[2 + 2 * share];
        const bool is_few = share - first <= kFewTails;
        is_many = first >= 0 && !is_few;
        const Index length =
            first < 0 ? 0 : segment_end(segments, segment) - segment_begin(segments, segment);
        if (is_many && column == 0)
            many[atomicAdd(&num_many, 1)] = {first, share, segment, length};
        if (first >= 0 && is_few) {
            for (int feature = column; feature < num_features; feature += width) {
                const State head = heads[i64(share) * num_features + feature];
                const State total =
                    join_tails(tails + i64(first) * num_features + feature, share - first, num_features);
                store_feature(results, segment, length, i64(segment) * num_features + feature,
                              combine(total, head));
            }
        }
    }
    if (!__syncthreads_or(is_many))  // `many` and `num_many` are written
        return;
    for (int k = 0; k < num_many; ++k) {
        const Index share = many[k].share;
        const Index first = many[k].first;
        const Index chunk_shares = (share - first + block_shares - 1) / block_shares;
        const Index begin = min(first + chunk * chunk_shares, share);
        for (int base = 0; base < num_features; base += width) {
            const int feature = base + column;
            const bool is_there = chunk < block_shares && feature < num_features;
            const Index count = is_there ? min(chunk_shares, share - begin) : 0;
            State head = identity();
            if (chunk == 0 && is_there)
                head = heads[i64(share) * num_features + feature];
            parts[threadIdx.x] = join_tails(tails + i64(begin) * num_features + feature, count, num_features);
            for (int distance = 1; distance < block_shares; distance *= 2) {
                __syncthreads();  // the parts of this round are written
                if (chunk % (2 * distance) == 0 && chunk + distance < block_shares)
                    parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + distance * width]);
            }
            if (chunk == 0 && is_there)
                store_feature(results, many[k].segment, many[k].length,
                              i64(many[k].segment) * num_features + feature,
                              combine(parts[threadIdx.x], head));
            __syncthreads();  // all threads have read the parts, so the next ones may replace them
        }
    }
}
