//% stage   scan_features
//% title   Running results of rows: lanes scan features, the cores equal shares of rows and ends
//% source  Blelloch 1990, section 1.2; Yang, Buluc & Owens 2018, Design Principles for Sparse Matrix Multiplication on the GPU, merge-based
//% layout  whole, uniform, offsets, ranges
//% needs   associative, rows, scans
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32, 64, 128, 256
//% tune    share_steps = 4096, 64, 256, 1024, 16384, 65536
//% fits    num_features == 0 || feature_lanes <= num_features
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% let     num_cut = num_shares > 1 ? num_shares : 0
//% scratch share_states : State[num_shares * num_features]
//% launch  fold_share    grid = num_cut  block = 1
//% launch  join_carries  grid = num_cut > 0 ? ceil_div(num_features, 64) : 0  block = 1
//% launch  scan_share    grid = num_shares  block = 1
//% use     cpu/parts/scan_cuts.h

// A block of features consists of kVectors vectors.
constexpr int kVectorLanes = kFeatureLanes < kLanes ? kFeatureLanes : kLanes;
constexpr int kVectors = kFeatureLanes / kVectorLanes;

// Consecutive rows of a segment, and the first feature of a block of their features.
struct Rows {
    Index segment;
    Index begin;  // the first row, counted as an item
    Index end;
    Index feature;
};

[[gnu::always_inline]] static inline void take_feature(States& totals, int lane, const Inputs& inputs,
                                                       const Row& row, int k, Index index, Index position,
                                                       Index segment)
{
    append(totals, lane, lift_feature(inputs, row, k, index, position, segment));
}

// Folds rows to one state for each feature of a block, which has `vectors` vectors of `lanes` features.
[[gnu::always_inline]] static inline void fold_block(State* states, const Inputs& inputs,
                                                     const Segments& segments, const Rows& rows,
                                                     Index num_features, int vectors, int lanes)
{
    States totals[kVectors];
    for (int v = 0; v < vectors; ++v)
        for (int lane = 0; lane < lanes; ++lane)
            clear(totals[v], lane);
    const Index start = segment_begin(segments, rows.segment);
    #pragma GCC unroll 1
    for (Index item = rows.begin; item < rows.end; ++item) {
        const Index index = element_of(segments, rows.segment, item);
        const Row row = find_row(inputs, index, item - start, rows.segment, rows.feature, num_features);
        #pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) {
            #pragma omp simd
            for (int lane = 0; lane < lanes; ++lane)
                take_feature(totals[v], lane, inputs, row, v * lanes + lane, index, item - start,
                             rows.segment);
        }
    }
    for (int v = 0; v < vectors; ++v)
        for (int lane = 0; lane < lanes; ++lane)
            states[rows.feature + v * lanes + lane] = get(totals[v], lane);
}

// Folds the share's part of the segment that goes on behind the share. The state of the last share is not
// used.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results,
                           State* share_states)
{
    const Index num_features = results.num_features;
    const Span open = open_span(segments, share_of(segments, share));
    State* states = share_states + share * num_features;
    Rows rows = {open.segment, open.begin, open.end, 0};
    if (open.begin == open.end) {
        for (Index k = 0; k < num_features; ++k)
            states[k] = identity();
        return;
    }
    for (; num_features - rows.feature >= kFeatureLanes; rows.feature += kFeatureLanes)
        fold_block(states, inputs, segments, rows, num_features, kVectors, kVectorLanes);
    for (; num_features - rows.feature >= kVectorLanes; rows.feature += kVectorLanes)
        fold_block(states, inputs, segments, rows, num_features, 1, kVectorLanes);
    if (rows.feature < num_features)
        fold_block(states, inputs, segments, rows, num_features, 1, int(num_features - rows.feature));
}

constexpr int kJoinFeatures = 64;

// Joins the states that fold_share() left, along the way of the scan, for kJoinFeatures features side by
// side. Each share gets the states with which its first segment begins.
extern "C" void join_carries(i64 block,
                             const Segments& segments,
                             const Results& results,
                             State* share_states)
{
    const Index num_features = results.num_features;
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    const Index first = Index(block) * kJoinFeatures;
    const int count = num_features - first < kJoinFeatures ? int(num_features - first) : kJoinFeatures;
    State carries[kJoinFeatures];
    for (int k = 0; k < count; ++k)
        carries[k] = identity();
    for (i64 turn = 0; turn < num_shares; ++turn) {
        //% if reverse
        const i64 share = num_shares - 1 - turn;
        //% else
        const i64 share = turn;
        //% end
        State* states = share_states + share * num_features + first;
        const bool goes_through = open_span(segments, share_of(segments, share)).goes_through;
        for (int k = 0; k < count; ++k) {
            const State own = states[k];
            states[k] = carries[k];
            carries[k] = goes_through ? joined(carries[k], own) : own;
        }
    }
}

// Scans feature k of a row. `is_first` is true if the scan enters the segment with this row.
[[gnu::always_inline]] static inline void scan_lane(States& states, int lane, const Inputs& inputs,
                                                    const Results& results, const Row& row, int k,
                                                    Index index, Index position, const Rows& rows,
                                                    Index num_features, bool is_first)
{
    const State before = get(states, lane);
    const State own = lift_feature(inputs, row, k, index, position, rows.segment);
    const State through = is_first ? own : joined(before, own);
    scan_feature(inputs, results, before, through, index, position, rows.segment, rows.feature + k,
                 num_features);
    put(states, lane, through);
}

[[gnu::always_inline]] static inline void scan_row(States* states, const Inputs& inputs,
                                                   const Results& results, const Segments& segments,
                                                   const Rows& rows, Index item, Index num_features,
                                                   int vectors, int lanes, bool is_first)
{
    const Index index = element_of(segments, rows.segment, item);
    const Index position = item - segment_begin(segments, rows.segment);
    const Row row = find_row(inputs, index, position, rows.segment, rows.feature, num_features);
    #pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
        #pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            scan_lane(states[v], lane, inputs, results, row, v * lanes + lane, index, position, rows,
                      num_features, is_first);
    }
}
//% if keeps_results || map

[[gnu::always_inline]] static inline void store_lane(const Results& results, Index segment, Index length,
                                                     i64 place, const States& totals, int lane)
{
    store_feature(results, segment, length, place, get(totals, lane));
}
//% end

// Scans rows for a block of `vectors` vectors of `lanes` features. The scan goes on from `before`, which has
// one state for each feature of a row. It is null if the scan enters the segment with these rows. `ends` is
// true if the scan leaves the segment with them.
[[gnu::always_inline]] static inline void scan_block(const Inputs& inputs, const Results& results,
                                                     const Segments& segments, const Rows& rows,
                                                     const State* before, bool ends, int vectors, int lanes)
{
    const Index num_features = results.num_features;
    States states[kVectors];
    for (int v = 0; v < vectors; ++v)
        for (int lane = 0; lane < lanes; ++lane)
            put(states[v], lane, before ? before[rows.feature + v * lanes + lane] : identity());
    const Index count = rows.end - rows.begin;
    //% if reverse
    const Index first = rows.end - 1;
    const Index step = -1;
    //% else
    const Index first = rows.begin;
    const Index step = 1;
    //% end
    Index done = 0;
    if (!before && count > 0)
        scan_row(states, inputs, results, segments, rows, first + step * done++, num_features, vectors, lanes,
                 true);
    #pragma GCC unroll 1
    for (; done < count; ++done)
        scan_row(states, inputs, results, segments, rows, first + step * done, num_features, vectors, lanes,
                 false);
    //% if keeps_results || map
    if (!ends)
        return;
    const Index length =
        segment_end(segments, rows.segment) - segment_begin(segments, rows.segment);
    const i64 place = i64(rows.segment) * num_features + rows.feature;
    for (int v = 0; v < vectors; ++v)
        for (int lane = 0; lane < lanes; ++lane)
            store_lane(results, rows.segment, length, place + v * lanes + lane, states[v], lane);
    //% end
}

// Scans rows for all features, block by block.
static inline void scan_rows(const Inputs& inputs, const Results& results, const Segments& segments,
                             Rows rows, const State* before, bool ends)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Index num_features = all.num_features;
    for (; num_features - rows.feature >= kFeatureLanes; rows.feature += kFeatureLanes)
        scan_block(columns, all, segments, rows, before, ends, kVectors, kVectorLanes);
    for (; num_features - rows.feature >= kVectorLanes; rows.feature += kVectorLanes)
        scan_block(columns, all, segments, rows, before, ends, 1, kVectorLanes);
    if (rows.feature < num_features)
        scan_block(columns, all, segments, rows, before, ends, 1, int(num_features - rows.feature));
}

// A share scans its segments one after the other. The states with which it begins have been joined by
// join_carries().
extern "C" void scan_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const State* share_states,
                           const Results& results)
{
    const Share own = share_of(segments, share);
    const State* carries = share_states + share * results.num_features;
    //% if reverse
    for (Index segment = own.end.segment; segment >= own.begin.segment; --segment) {
        if (segment == segments.num_segments)
            continue;
        const Index from = segment_begin(segments, segment);
        const bool enters = segment < own.end.segment || own.end.item == segment_end(segments, segment);
        const Index begin = from < own.begin.item ? own.begin.item : from;
        const Index end = segment < own.end.segment ? segment_end(segments, segment) : own.end.item;
        const bool ends = from >= own.begin.item && (segment < own.end.segment || from < end);
        if (begin < end || ends)
            scan_rows(inputs, results, segments, {segment, begin, end, 0}, enters ? nullptr : carries, ends);
    }
    //% else
    Index item = own.begin.item;
    for (Index segment = own.begin.segment; segment <= own.end.segment; ++segment) {
        const bool ends = segment < own.end.segment;
        const Index end = ends ? segment_end(segments, segment) : own.end.item;
        if (item < end || ends)
            scan_rows(inputs, results, segments, {segment, item, end, 0},
                      segment_begin(segments, segment) < item ? carries : nullptr, ends);
        item = end;
    }
    //% end
}
//% if map

// A share maps the segments that end in it. The launch before has stored all totals.
//% launch  map_share  grid = num_shares  block = 1
//% use     cpu/parts/map_items.h
extern "C" void map_share(i64 share, const Inputs& inputs, const Segments& segments, const Results& results)
{
    const Index end = share_begin(segments, share + 1).segment;
    for (Index segment = share_begin(segments, share).segment; segment < end; ++segment)
        map_items(inputs, results, segments, segment, segment_begin(segments, segment),
                  segment_end(segments, segment));
}
//% end
