//% stage   lane_per_feature
//% title   Lanes fold the features of a row, the cores equal shares of rows and segment ends
//% source  Yang, Buluc & Owens 2018, Design Principles for Sparse Matrix Multiplication on the GPU, merge-based
//% layout  whole, uniform, offsets, ranges
//% needs   associative, rows
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32, 64, 128, 256
//% tune    share_steps = 4096, 64, 256, 1024, 16384, 65536
//% fits    num_features == 0 || feature_lanes <= num_features
//% use     cpu/parts/share_cuts.h
//% use     cpu/parts/join_rows.h
//% if map
//% use     cpu/parts/map_shares.h
//% end

// A block of features consists of kVectors vectors. If a block has few vectors, kParts parts of a long
// segment are folded side by side, so that no addition waits for the one before.
constexpr int kVectorLanes = kFeatureLanes < kLanes ? kFeatureLanes : kLanes;
constexpr int kVectors = kFeatureLanes / kVectorLanes;
//% if costly_combine
constexpr int kParts = 1;
//% else
constexpr int kParts = kVectors < 4 ? 4 / kVectors : 1;
//% end
constexpr int kBlockVectors = kParts * kVectors;
constexpr Index kLongPart = 16;

[[gnu::always_inline]] static inline void take_feature(States& totals, int lane, const Inputs& inputs,
                                                       const Row& row, int k, Index index, Index position,
                                                       Index segment)
{
    append(totals, lane, lift_feature(inputs, row, k, index, position, segment));
}

[[gnu::always_inline]] static inline void join_feature(States& totals, int lane, const States& later)
{
    append(totals, lane, get(later, lane));
}

// Appends `count` rows to the totals of each part. The first part begins with the element at `index`. The
// block has `vectors` vectors of `lanes` features of each row.
[[gnu::always_inline]] static inline void take_rows(States* totals, const Inputs& inputs, Index index,
                                                    Index position, Index segment, Index count, int parts,
                                                    Index feature, Index num_features, int vectors,
                                                    int lanes)
{
    #pragma GCC unroll 1
    for (Index done = 0; done < count; ++done) {
        #pragma GCC unroll 4
        for (int part = 0; part < parts; ++part) {
            const Index ahead = part * count + done;
            const Row row =
                find_row(inputs, index + ahead, position + ahead, segment, feature, num_features);
            #pragma GCC unroll 16
            for (int v = 0; v < vectors; ++v) {
                #pragma omp simd
                for (int lane = 0; lane < lanes; ++lane)
                    take_feature(totals[part * vectors + v], lane, inputs, row, v * lanes + lane,
                                 index + ahead, position + ahead, segment);
            }
        }
    }
}

// Folds the items `begin` to `end` - 1 of a segment, for one block of features.
[[gnu::always_inline]] static inline void fold_rows(States* totals, const Inputs& inputs,
                                                    const Segments& segments, Index segment, Index begin,
                                                    Index end, Index feature, Index num_features,
                                                    int vectors, int lanes)
{
    #pragma GCC unroll 16
    for (int v = 0; v < kBlockVectors; ++v) {
        #pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            clear(totals[v], lane);
    }
    const Index index = begin < end ? element_of(segments, segment, begin) : 0;
    const Index position = begin - segment_begin(segments, segment);
    const Index count = end - begin;
    Index done = 0;
    if (kParts > 1 && count >= kParts * kLongPart) {
        const Index part_rows = count / kParts;
        take_rows(totals, inputs, index, position, segment, part_rows, kParts, feature, num_features,
                  vectors, lanes);
        #pragma GCC unroll 4
        for (int part = 1; part < kParts; ++part) {
            #pragma GCC unroll 16
            for (int v = 0; v < vectors; ++v) {
                #pragma omp simd
                for (int lane = 0; lane < lanes; ++lane)
                    join_feature(totals[v], lane, totals[part * vectors + v]);
            }
        }
        done = part_rows * kParts;
    }
    take_rows(totals, inputs, index + done, position + done, segment, count - done, 1, feature,
              num_features, vectors, lanes);
}

[[gnu::always_inline]] static inline void keep_feature(State* states, int place, const States& totals,
                                                       int lane)
{
    states[place] = get(totals, lane);
}

[[gnu::always_inline]] static inline void keep_block(State* states, const States* totals, int vectors,
                                                     int lanes)
{
    for (int v = 0; v < vectors; ++v) {
        #pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            keep_feature(states, v * lanes + lane, totals[v], lane);
    }
}

[[gnu::always_inline]] static inline void store_lane(const Results& results, Index segment, Index length,
                                                     i64 place, const States& totals, int lane)
{
    store_feature(results, segment, length, place, get(totals, lane));
}

[[gnu::always_inline]] static inline void store_block(const Results& results, Index segment, Index length,
                                                      i64 place, const States* totals, int vectors,
                                                      int lanes)
{
    const Results all = results;
    for (int v = 0; v < vectors; ++v) {
        #pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            store_lane(all, segment, length, place + v * lanes + lane, totals[v], lane);
    }
}

// Folds the segments between two cuts one after the other, block by block of features. The last block ends
// with the row and overlaps the block before.
[[gnu::always_inline]] static inline void fold_between(const Cut& begin, const Cut& end,
                                                       const Inputs& inputs, const Segments& segments,
                                                       const Results& results, State* heads, State* tails,
                                                       int vectors, int lanes)
{
    const Index num_features = results.num_features;
    const Index last_block = num_features - vectors * lanes;
    States totals[kBlockVectors];
    Index item = begin.item;
    #pragma GCC unroll 1
    for (Index segment = begin.segment; segment <= end.segment; ++segment) {
        const bool is_tail = segment == end.segment;
        const Index first = is_tail ? item : segment_begin(segments, segment);
        const Index last = is_tail ? end.item : segment_end(segments, segment);
        #pragma GCC unroll 1
        for (Index next = 0; next < num_features; next += vectors * lanes) {
            const Index feature = next < last_block ? next : last_block;
            fold_rows(totals, inputs, segments, segment, item, last, feature, num_features, vectors, lanes);
            if (is_tail)
                keep_block(tails + feature, totals, vectors, lanes);
            else if (first < item)
                keep_block(heads + feature, totals, vectors, lanes);
            else
                store_block(results, segment, last - first, i64(segment) * num_features + feature, totals,
                            vectors, lanes);
        }
        item = last;
    }
}

// A share folds the segments between its two cuts. Its part of a segment that began before the share, and its
// part of one that goes on behind the share, wait for join_rows. Rows shorter than a block are folded feature
// by feature.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results,
                           State* share_heads,
                           State* share_tails,
                           Index* share_items,
                           Index* share_segments)
{
    const Cut begin = share_begin(segments, share);
    const Cut end = share_begin(segments, share + 1);
    share_items[share] = begin.item;
    share_segments[share] = begin.segment;
    State* heads = share_heads + share * results.num_features;
    State* tails = share_tails + share * results.num_features;
    if (results.num_features >= kFeatureLanes)
        fold_between(begin, end, inputs, segments, results, heads, tails, kVectors, kVectorLanes);
    else
        fold_between(begin, end, inputs, segments, results, heads, tails, 1, 1);
    //% if map
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
    //% end
}
