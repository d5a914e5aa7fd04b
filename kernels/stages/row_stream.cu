//% stage   row_stream
//% title   Lanes side by side take an equal share of rows and segment ends
//% after   row_groups
//% source  Merrill & Garland 2016, Merge-based Parallel Sparse Matrix-Vector Multiplication
//% layout  whole, uniform, offsets
//% needs   associative, rows, !rows_by_place
//% suits   80
//% let     is_long = costly_combine || state_bytes >= 16
//% let     row_vector = max(1, 16 / max(1, row_bytes))
//% let     half_vector = max(1, row_vector / 2)
//% let     is_odd = num_features % 2 == 1
//% let     smaller = num_features % half_vector == 0 ? half_vector : 1
//% let     part = num_features % row_vector == 0 ? row_vector : smaller
//% tune    block_threads = 256, 64, 128
//% tune    features_per_lane = 4, 1, 2, 8
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32
//% tune    rows_per_step = 8, 1, 2, 4
//% tune    blocks_per_multiprocessor = 2, 1, 3, 4, 8
//% let     lane_part = num_features <= 64 ? 2 : num_features <= 128 ? 4 : 8
//% prefer  features_per_lane = num_features == 0 ? row_vector : is_odd ? 1 : min(part, lane_part)
//% let     vectors = num_features == 0 ? 16 : ceil_div(num_features, features_per_lane)
//% let     few_vectors = vectors <= 1 ? 1 : vectors <= 2 ? 2 : vectors <= 4 ? 4 : 8
//% prefer  feature_lanes = vectors <= 8 ? few_vectors : vectors <= 16 ? 16 : 32
//% prefer  rows_per_step = is_long || gathers_rows || row_bytes <= 2 ? 4 : 8
//% let     is_narrow = num_features > 0 && num_features <= 64
//% prefer  blocks_per_multiprocessor = row_bytes <= 2 ? 8 : is_narrow || gathers_rows ? 4 : 2
//% let     feature_blocks = ceil_div(num_features, feature_lanes * features_per_lane)
//% let     block_groups = block_threads / feature_lanes
//% let     least_blocks = ceil_div(feature_blocks, block_groups)
//% let     all_blocks = ceil_div((num_items + num_segments) * feature_blocks, 16 * block_groups)
//% let     most_blocks = min(num_multiprocessors * blocks_per_multiprocessor, all_blocks)
//% let     stream_blocks = num_segments == 0 ? 0 : max(least_blocks, most_blocks)
//% let     num_shares = stream_blocks * block_groups / feature_blocks
//% let     join_threads = state_bytes <= 16 ? 1024 : 256
//% let     join_reads = max(1, 32 / state_bytes)
//% let     join_shares = max(1, join_threads / num_features)
//% scratch shares : Index[num_shares + 2]
//% scratch heads : State[num_shares * num_features]
//% scratch tails : State[num_shares * num_features]
//% launch  reduce  grid = stream_blocks  block = block_threads
//% launch  join  grid = ceil_div(num_shares, join_shares)  block = join_threads
//% use     parts/segment_items.cuh

constexpr int kGroupFeatures = kFeatureLanes * kFeaturesPerLane;
constexpr int kFewTails = 8;  // as many are joined by one thread

// Rows and ends of segments lie in one order, the end of a segment behind its rows: so many ends come before
// `place`.
__device__ __forceinline__ Index ends_before(const Segments& segments, i64 place)
{
    Index low = 0;
    Index high = segments.num_segments;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (i64(segment_end(segments, middle)) + middle < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ __forceinline__ i64 share_length(const Segments& segments, Index num_shares)
{
    return (i64(segments.num_items) + segments.num_segments + num_shares - 1) / num_shares;
}

// kFeatureLanes lanes take a share of rows and ends, and a block of features. kRowsPerStep rows are under way,
// folded from left to right. A segment that began in an earlier share leaves its part in `heads`, one that
// goes on behind the share leaves it in `tails`. `shares` has their number, then the first segment that ends
// in each, or behind it.
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
    Index segment = ends_before(segments, place);
    const Index last = ends_before(segments, stop);
    const Index begin = Index(place - segment);
    const Index end = Index(stop - last);
    if (feature == 0) {
        shares[1 + share] = segment;
        if (share == num_shares - 1) {
            shares[0] = num_shares;
            shares[1 + num_shares] = last;
        }
    }
    State totals[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        totals[v] = identity();
    Index segment_start = segment < segments.num_segments ? segment_begin(segments, segment) : begin;
    bool is_cut = segment_start < begin;
    // Where this segment and the one behind it end, if that is in the share.
    Index next = segment < last ? segment_end(segments, segment) : end;
    Index after = segment + 1 < last ? segment_end(segments, segment + 1) : end;
    for (Index row = begin; segment < last || row < end; row += kRowsPerStep) {
        Row rows[kRowsPerStep];
        // Behind the share's end the last one's once more: under one condition all are asked for at once.
        if (row < end) {
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u)
                load_numbers(rows[u], inputs, min(row + u, end - 1));
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u)
                find_rows(rows[u], inputs, min(row + u, end - 1), 0, 0);
        }
        #pragma unroll
        for (int u = 0; u < kRowsPerStep; ++u)
            if (row + u < end)
                load_rows(rows[u], inputs, row + u, 0, 0, feature, num_features, is_vector);
        if (is_vector && next >= row + kRowsPerStep && end >= row + kRowsPerStep) {
            #pragma unroll
            for (int u = 0; u < kRowsPerStep; ++u) {
                #pragma unroll
                for (int v = 0; v < kFeaturesPerLane; ++v)
                    totals[v] = combine(totals[v], lift_row(inputs, rows[u], v, row + u,
                                                            row + u - segment_start, segment));
            }
            continue;  // nothing ends before the last of these rows
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
                next = after;
                after = segment + 1 < last ? segment_end(segments, segment + 1) : end;
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

extern "C" __global__ void __launch_bounds__(kBlockThreads)
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

// The share in which the segment began that is the first to end in `share`; -1 if that is the same one.
__device__ __forceinline__ Index share_of_begin(const Segments& segments, const Index* shares, Index share,
                                                i64 length)
{
    const Index segment = shares[1 + share];
    if (segment == shares[2 + share])
        return -1;
    const i64 begin = i64(segment_begin(segments, segment)) + segment;
    return share * length > begin ? Index(begin / length) : -1;
}

// A block looks after some consecutive shares. The total of a segment that ends in one of them and began
// before is made of the tails since then and the share's head: by a thread for each feature if the tails are
// few, else by the block, whose threads take consecutive tails, kJoinReads at a time. A giant has thousands of
// tails, for which all others wait: so the block is large.
extern "C" __global__ void __launch_bounds__(kJoinThreads, 1)
join(Segments segments, const Index* shares, const State* heads, const State* tails, Results results)
{
    __shared__ State parts[kJoinThreads];
    __shared__ bool are_many[kJoinThreads];
    const int num_features = int(results.num_features);
    const Index num_shares = shares[0];
    const i64 length = share_length(segments, num_shares);
    const int width = min(num_features, kJoinThreads);
    const int block_shares = kJoinThreads / width;
    const int column = int(threadIdx.x) % width;
    const int chunk = int(threadIdx.x) / width;
    const Index first_share = Index(blockIdx.x) * block_shares;
    if (chunk < block_shares && first_share + chunk < num_shares) {
        const Index share = first_share + chunk;
        const Index first = share_of_begin(segments, shares, share, length);
        const bool is_few = share - first <= kFewTails;
        if (column == 0)
            are_many[chunk] = first >= 0 && !is_few;
        if (first >= 0 && is_few) {
            const Index segment = shares[1 + share];
            const Index segment_items = segment_end(segments, segment) - segment_begin(segments, segment);
            for (int feature = column; feature < num_features; feature += width) {
                State total = tails[i64(first) * num_features + feature];
                for (Index s = first + 1; s < share; ++s)
                    total = combine(total, tails[i64(s) * num_features + feature]);
                total = combine(total, heads[i64(share) * num_features + feature]);
                store_feature(results, segment, segment_items, i64(segment) * num_features + feature, total);
            }
        }
    }
    __syncthreads();  // are_many is written
    for (int k = 0; k < block_shares && first_share + k < num_shares; ++k) {
        if (!are_many[k])
            continue;
        const Index share = first_share + k;
        const Index segment = shares[1 + share];
        const Index segment_items = segment_end(segments, segment) - segment_begin(segments, segment);
        const Index first = share_of_begin(segments, shares, share, length);
        const Index chunk_shares = (share - first + block_shares - 1) / block_shares;
        for (int base = 0; base < num_features; base += width) {
            const int feature = base + column;
            State total = identity();
            if (chunk < block_shares && feature < num_features) {
                const Index begin = first + chunk * chunk_shares;
                const Index end = min(begin + chunk_shares, share);
                #pragma unroll kJoinReads
                for (Index s = begin; s < end; ++s)
                    total = combine(total, tails[i64(s) * num_features + feature]);
            }
            parts[threadIdx.x] = total;
            for (int distance = 1; distance < block_shares; distance *= 2) {
                __syncthreads();  // the parts of this round are written
                if (chunk % (2 * distance) == 0 && chunk + distance < block_shares)
                    parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + distance * width]);
            }
            if (chunk == 0 && feature < num_features)
                store_feature(results, segment, segment_items, i64(segment) * num_features + feature,
                              combine(parts[threadIdx.x], heads[i64(share) * num_features + feature]));
            __syncthreads();  // all have read the parts before the next ones replace them
        }
    }
}
