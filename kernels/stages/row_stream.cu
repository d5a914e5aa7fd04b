//% stage   row_stream
//% title   Lanes side by side take an equal share of rows and segment ends
//% after   row_groups
//% source  Merrill & Garland 2016, Merge-based Parallel Sparse Matrix-Vector Multiplication
//% layout  whole, uniform, offsets
//% needs   associative, rows, !rows_by_place
//% tune    block_threads = 256, 64, 128
//% tune    features_per_lane = 4, 1, 2, 8
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32
//% tune    rows_per_step = 8, 1, 2, 4
//% tune    blocks_per_multiprocessor = 2, 1, 3, 4, 5, 6, 8
//% fits    num_features % features_per_lane == 0
//% fits    num_features == 0 || feature_lanes == 1 || feature_lanes / 2 * features_per_lane < num_features
//% let     feature_blocks = ceil_div(num_features, feature_lanes * features_per_lane)
//% let     block_groups = block_threads / feature_lanes
//% let     least_blocks = ceil_div(feature_blocks, block_groups)
//% let     all_blocks = ceil_div((num_items + num_segments) * feature_blocks, 16 * block_groups)
//% let     most_blocks = min(num_multiprocessors * blocks_per_multiprocessor, all_blocks)
//% let     stream_blocks = num_segments == 0 ? 0 : max(least_blocks, most_blocks)
//% let     num_shares = stream_blocks * block_groups / feature_blocks
//% let     join_threads = state_bytes <= 16 ? 1024 : 256
//% let     join_blocks = state_bytes <= 4 ? 2 : 1
//% let     join_reads = max(1, 32 / state_bytes)
//% let     join_shares = max(1, join_threads / num_features)
//% scratch shares : Index[2 * num_shares + 1]
//% scratch heads : State[num_shares * num_features]
//% scratch tails : State[num_shares * num_features]
//% launch  reduce  grid = stream_blocks  block = block_threads
//% launch  join  grid = ceil_div(num_shares, join_shares)  block = join_threads
//% use     parts/segments/segment_items.cuh
//% use     parts/segments/ends_before.cuh

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

//% if gathers && feature_lanes >= rows_per_step
// Loads the numbers of this lane's element. The group's first lane has element `first`, and `left` elements
// are left.
__device__ __forceinline__ void load_lane_numbers(Row& held, const Inputs& inputs, Index first, Index left)
{
    const int lane = int(threadIdx.x) % kFeatureLanes;
    if (lane < left)
        load_numbers(held, inputs, first + lane);
}

// Loads `count` consecutive elements from `first` on. The lanes of the group hold their numbers, and lane
// `lane_of_row` holds those of the first element. kRowsPerStep divides kFeatureLanes, so the lanes hold the
// numbers of a whole step.
__device__ __forceinline__ void load_step(Row (&rows)[kRowsPerStep], const Inputs& inputs, const Row& held,
                                          int lane_of_row, Index first, int count, int feature,
                                          int num_features, bool is_vector)
{
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        shuffle_places(rows[u], held, group_mask(), first_group_lane() + lane_of_row + min(u, count - 1));
    load_step_rows(rows, inputs, first, count, feature, num_features, is_vector);
}
//% else
// Loads `count` consecutive elements from `first` on.
__device__ __forceinline__ void load_step(Row (&rows)[kRowsPerStep], const Inputs& inputs, Index first,
                                          int count, int feature, int num_features, bool is_vector)
{
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        load_numbers(rows[u], inputs, first + min(u, count - 1));
    load_step_rows(rows, inputs, first, count, feature, num_features, is_vector);
}
//% end

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
    //% if gathers && feature_lanes >= rows_per_step
    // An element's numbers tell where its rows are, so numbers are loaded first. Each lane of the group holds
    // the numbers of one element. Those of the next kFeatureLanes elements are loaded while these are in use.
    Row numbers;
    Row next_numbers;
    load_lane_numbers(next_numbers, inputs, begin, end - begin);
    //% end
    ComingEnds coming = {segment - kFeatureLanes, 0, load_end(segments, segment, last, end)};
    Index next = take_end(coming, segments, segment, last, end);  // the end of `segment`
    for (Index row = begin; segment < last || row < end; row += kRowsPerStep) {
        // Rows are loaded before the ends among them are looked up, so that the groups of a warp wait only
        // once.
        Row rows[kRowsPerStep];
        const Index left = end - row;
        const bool is_whole = is_vector && left >= kRowsPerStep;
        //% if gathers && feature_lanes >= rows_per_step
        const int lane_of_row = int((row - begin) % kFeatureLanes);
        if (lane_of_row == 0) {
            numbers = next_numbers;
            load_lane_numbers(next_numbers, inputs, row + kFeatureLanes, left - kFeatureLanes);
        }
        // In a whole step, `count` is a constant, so that each address is the first address plus a constant.
        if (is_whole)
            load_step(rows, inputs, numbers, lane_of_row, row, kRowsPerStep, feature, num_features,
                      is_vector);
        else if (left > 0)
            load_step(rows, inputs, numbers, lane_of_row, row, int(min(left, Index(kRowsPerStep))), feature,
                      num_features, is_vector);
        //% else
        // In a whole step, `count` is a constant, so that each address is the first address plus a constant.
        if (is_whole)
            load_step(rows, inputs, row, kRowsPerStep, feature, num_features, is_vector);
        else if (left > 0)
            load_step(rows, inputs, row, int(min(left, Index(kRowsPerStep))), feature, num_features,
                      is_vector);
        //% end
        if (is_whole && next >= row + kRowsPerStep) {  // all these rows belong to one segment
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u) {
                //% if gathers && feature_lanes >= rows_per_step
                shuffle_lifted(rows[u], numbers, group_mask(), first_group_lane() + lane_of_row + u);
                //% end
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
                //% if gathers && feature_lanes >= rows_per_step
                shuffle_lifted(rows[u], numbers, group_mask(), first_group_lane() + lane_of_row + u);
                //% end
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
    //% if features_per_lane == 1
    fold_share(inputs, segments, shares, heads, tails, results, true);
    //% else
    if (rows_are_vectors(inputs, results, int(results.num_features)))
        fold_share(inputs, segments, shares, heads, tails, results, true);
    else
        fold_share(inputs, segments, shares, heads, tails, results, false);
    //% end
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
