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
constexpr int kFewTails = 8;  // as many are joined by one thread

// Rows and ends of segments lie in one order, the end of a segment behind its rows.
__device__ __forceinline__ i64 share_length(const Segments& segments, Index num_shares)
{
    return (i64(segments.num_items) + segments.num_segments + num_shares - 1) / num_shares;
}

// The first of the group's lanes in its warp.
__device__ __forceinline__ int first_group_lane()
{
    return int(threadIdx.x) % kWarpThreads / kFeatureLanes * kFeatureLanes;
}

__device__ __forceinline__ unsigned group_mask()
{
    return kFullMask >> (kWarpThreads - kFeatureLanes) << first_group_lane();
}

// Ends of segments, one in each lane of a group: that of `first` and those behind it. `following` are those
// behind these, which are asked for long before they are needed.
struct ComingEnds {
    Index first;
    Index mine;
    Index following;
};

// The end of this lane's segment among those from `first` on; segments from `last` on have the end `none`.
__device__ __forceinline__ Index load_end(const Segments& segments, Index first, Index last, Index none)
{
    const Index mine = first + int(threadIdx.x) % kFeatureLanes;
    return mine < last ? segment_end(segments, mine) : none;
}

// Where `segment` ends, for which lanes ask one after the other.
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

// Asks for the rows of `count` consecutive elements from `first` on, after their numbers. If they are fewer
// than kRowsPerStep, the last one is asked for again, so that no condition stands between the loads.
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
// Asks for the numbers of this lane's element among those from `first` on, of which `left` are there.
__device__ __forceinline__ void load_lane_numbers(Row& held, const Inputs& inputs, Index first, Index left)
{
    const int lane = int(threadIdx.x) % kFeatureLanes;
    if (lane < left)
        load_numbers(held, inputs, first + lane);
}

// Asks for `count` consecutive elements from `first` on. The lanes of the group hold their numbers, its lane
// `lane_of_row` those of the first. kRowsPerStep divides kFeatureLanes, so they hold those of a whole step.
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
// Asks for `count` consecutive elements from `first` on.
__device__ __forceinline__ void load_step(Row (&rows)[kRowsPerStep], const Inputs& inputs, Index first,
                                          int count, int feature, int num_features, bool is_vector)
{
    #pragma unroll
    for (int u = 0; u < kRowsPerStep; ++u)
        load_numbers(rows[u], inputs, first + min(u, count - 1));
    load_step_rows(rows, inputs, first, count, feature, num_features, is_vector);
}
//% end

// kFeatureLanes lanes take a share of rows and ends, and a block of features. kRowsPerStep rows are under
// way, folded from left to right. A segment that began in an earlier share leaves its part in `heads`, one
// that goes on behind the share leaves it in `tails`. `shares` has their number, then of each the share in
// which the segment of its head began, or -1 if there is no head, and that segment.
// `is_vector` is a constant where this is called, so that loads of vectors have no branch between them.
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
    // An element's numbers say where its rows are, so they are loaded first: each lane of the group holds
    // those of one element. Those of the next kFeatureLanes elements are asked for while these are in use.
    Row numbers;
    Row next_numbers;
    load_lane_numbers(next_numbers, inputs, begin, end - begin);
    //% end
    ComingEnds coming = {segment - kFeatureLanes, 0, load_end(segments, segment, last, end)};
    Index next = take_end(coming, segments, segment, last, end);  // where this segment ends
    for (Index row = begin; segment < last || row < end; row += kRowsPerStep) {
        // Rows are asked for before it is asked what ends among them, so that the groups of a warp wait once.
        Row rows[kRowsPerStep];
        const Index left = end - row;
        const bool is_whole = is_vector && left >= kRowsPerStep;
        //% if gathers && feature_lanes >= rows_per_step
        const int lane_of_row = int((row - begin) % kFeatureLanes);
        if (lane_of_row == 0) {
            numbers = next_numbers;
            load_lane_numbers(next_numbers, inputs, row + kFeatureLanes, left - kFeatureLanes);
        }
        // Of a whole step, whose count is a constant, all addresses are the first one's plus a constant.
        if (is_whole)
            load_step(rows, inputs, numbers, lane_of_row, row, kRowsPerStep, feature, num_features,
                      is_vector);
        else if (left > 0)
            load_step(rows, inputs, numbers, lane_of_row, row, int(min(left, Index(kRowsPerStep))), feature,
                      num_features, is_vector);
        //% else
        // Of a whole step, whose count is a constant, all addresses are the first one's plus a constant.
        if (is_whole)
            load_step(rows, inputs, row, kRowsPerStep, feature, num_features, is_vector);
        else if (left > 0)
            load_step(rows, inputs, row, int(min(left, Index(kRowsPerStep))), feature, num_features,
                      is_vector);
        //% end
        if (is_whole && next >= row + kRowsPerStep) {  // nothing ends before the last of these rows
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
            // All segments that end before this row; behind the last row, all that end in the share.
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

// Joins the tails of one feature of `count` consecutive shares, the first of which is at `tails`.
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

// A segment with many tails, the head of which is in a share of this block.
struct Many {
    Index first;  // the share in which it began
    Index share;  // that of its head
    Index segment;
    Index length;
};

// A block looks after some consecutive shares. The total of a segment that ends in one of them and began
// before is made of the tails since then and the share's head: by a thread for each feature if the tails are
// few, else by the block, whose threads take consecutive tails, kJoinReads at a time. A giant has thousands
// of tails, for which all others wait: so the block is large, and what it needs is loaded in few steps.
extern "C" __global__ void __launch_bounds__(kJoinThreads, kJoinBlocks)
join(Segments segments, const Index* shares, const State* heads, const State* tails, Results results)
{
    __shared__ State parts[kJoinThreads];
    // Heads with many tails are more than kFewTails shares apart.
    __shared__ Many many[(kJoinThreads + kFewTails) / (kFewTails + 1)];
    __shared__ int num_many;
    if (threadIdx.x == 0)
        num_many = 0;
    __syncthreads();  // it is 0 before it is counted up
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
            __syncthreads();  // all have read the parts before the next ones replace them
        }
    }
}
