// scan_features: Running results of rows: lanes scan features, the cores equal shares of rows and ends
// Segments given as offsets, 32-bit indices.
// feature_lanes = 64
// share_steps = 4096
//
// Exact and not commutative, of rows: each output tells the states before its element and with it,
//     and its places.
// operator told_row_scan(x: row u32, w: u32) -> (hash: u64, power: u64, each told: u64) {
//   state { hash: u64 = 0; power: u64 = 1 }
//   lift {
//     hash = u64(x) * 13787848793156543929 + u64(w);
//     power = 15074714826142052245 + u64(x) * 2;
//   }
//   combine(a, b) {
//     hash = a.hash * b.power + b.hash;
//     power = a.power * b.power;
//   }
//   scan(before, through) through.hash * 31 + before.hash * 7 + u64(x) + u64(index + position * 5 + segment)
// }
//
// Emitted by segfold from kernels/cpu/scan_features.cpp; edit that file instead.

using Index = int;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kFeatureLanes = 64;
constexpr int kShareSteps = 4096;
constexpr int kLanes = 16;
constexpr int kPrefetchBytes = 8192;

struct Inputs {
    const unsigned* x;
    const unsigned* w;
};

struct Results {
    u64* hash;
    u64* power;
    u64* told;  // of each element
    Index num_features;  // of each row
};

struct State {
    u64 hash;
    u64 power;
};

[[gnu::always_inline]] static inline State identity()
{
    return {0, 1};
}

[[gnu::always_inline]] static inline State lift(unsigned x, unsigned w)
{
    return {u64(x) * 13787848793156543929ull + u64(w), 15074714826142052245ull + u64(x) * 2};
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    return {a.hash * b.power + b.hash, a.power * b.power};
}

// The results of one feature.
struct RowResult {
    u64 hash;
    u64 power;
};

[[gnu::always_inline]] static inline RowResult finish_row(Index, Index, State state)
{
    return {state.hash, state.power};
}

// The states of all lanes, field by field.
struct States {
    alignas(64) u64 hash[kLanes];
    alignas(64) u64 power[kLanes];
};

[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return {states.hash[lane], states.power[lane]};
}

[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
    states.hash[lane] = state.hash;
    states.power[lane] = state.power;
}

[[gnu::always_inline]] static inline void clear(States& states, int lane)
{
    put(states, lane, identity());
}

// Bodies of loops over lanes are functions: a compiler keeps their states in registers, but moves variables
// of the loop itself to memory.
[[gnu::always_inline]] static inline void append(States& totals, int lane, State later)
{
    put(totals, lane, combine(get(totals, lane), later));
}

// The outputs of one element.
struct Scanned {
    u64 told;
};

// What an element gets, from the states of its segment before it and with it.
[[gnu::always_inline]] static inline Scanned scan_element(State before, State through, unsigned x,
    Index index, Index position, Index segment)
{
    return {through.hash * 31 + before.hash * 7 + u64(x)
        + u64(i64(u64(index) + u64(position) * 5 + u64(segment)))};
}

// Writes the outputs of one feature of the element at `index`, from its segment's states before this element
// and with it.
[[gnu::always_inline]] static inline void scan_feature(const Inputs& inputs, const Results& results,
                                                       State before, State through, Index index,
                                                       Index position, Index segment, Index feature,
                                                       Index num_features)
{
    const i64 place = i64(index) * num_features + feature;
    const Scanned scanned = scan_element(before, through, inputs.x[place], index, position, segment);
    results.told[place] = scanned.told;
}

// One element: the numbers of its columns, and the begin of a block of features in each of its rows.
struct Row {
    unsigned w;
    const unsigned* x;
};

// Returns the element at `index`; `feature` is the first feature of the block.
[[gnu::always_inline]] static inline Row find_row(const Inputs& inputs, Index index, Index,
                                                  Index, Index feature, Index num_features)
{
    Row row;
    row.w = inputs.w[index];
    row.x = inputs.x + i64(index) * num_features + feature;
    __builtin_prefetch((const char*)row.x + kPrefetchBytes, 0, 2);
    return row;
}

// Lifts feature `k` of the block.
[[gnu::always_inline]] static inline State lift_feature(const Inputs&, const Row& row, int k,
                                                        Index, Index, Index)
{
    return lift(row.x[k], row.w);
}

// Finishes the total of one feature, and writes each of its results at `place`.
[[gnu::always_inline]] static inline void store_feature(const Results& results, Index segment, Index length,
                                                        i64 place, State total)
{
    const RowResult result = finish_row(segment, length, total);
    results.hash[place] = result.hash;
    results.power[place] = result.power;
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// Returns the segment's first item.
static inline Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Returns one past the segment's last item.
static inline Index segment_end(const Segments& segments, Index segment)
{
    return segment_begin(segments, segment + 1);
}

// Returns the element of the input that is item `item` of a segment.
static inline Index element_of(const Segments&, Index, Index item) { return item; }

// A place on the path that passes every item and every end of a segment. The end of a segment comes behind
// its last item.
struct Cut {
    Index item;     // the first item that is not passed
    Index segment;  // the first segment whose end is not passed
};

// Returns the begin of a share. Shares have equal numbers of steps on the path, so each has as many items and
// ends as any other.
static inline Cut share_begin(const Segments& segments, i64 share)
{
    i64 steps = share * kShareSteps;
    if (steps > i64(segments.num_items) + segments.num_segments)
        steps = i64(segments.num_items) + segments.num_segments;
    Index low = 0;
    Index high = segments.num_segments;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (i64(segment_end(segments, middle)) + middle + 1 <= steps)
            low = middle + 1;
        else
            high = middle;
    }
    return {Index(steps - low), low};
}

// Joins a state with the next one on the way of the scan.
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(before, next); }

// A share of the path that passes every item and every end of a segment.
struct Share {
    Cut begin;
    Cut end;
};

static inline Share share_of(const Segments& segments, i64 share)
{
    return {share_begin(segments, share), share_begin(segments, share + 1)};
}

// Consecutive items of a segment.
struct Span {
    Index segment;
    Index begin;
    Index end;
    bool goes_through;  // true if the segment begins before the share and ends after it
};

// Returns the share's items of the segment that is still open when the way of the scan leaves the share.
static inline Span open_span(const Segments& segments, const Share& share)
{
    const Index segment = share.end.segment;
    const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : share.end.item;
    const bool begins = begin >= share.begin.item;
    return {segment, begins ? begin : share.begin.item, share.end.item, !begins};
}

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
        const i64 share = turn;
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

[[gnu::always_inline]] static inline void store_lane(const Results& results, Index segment, Index length,
                                                     i64 place, const States& totals, int lane)
{
    store_feature(results, segment, length, place, get(totals, lane));
}

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
    const Index first = rows.begin;
    const Index step = 1;
    Index done = 0;
    if (!before && count > 0)
        scan_row(states, inputs, results, segments, rows, first + step * done++, num_features, vectors, lanes,
                 true);
    #pragma GCC unroll 1
    for (; done < count; ++done)
        scan_row(states, inputs, results, segments, rows, first + step * done, num_features, vectors, lanes,
                 false);
    if (!ends)
        return;
    const Index length =
        segment_end(segments, rows.segment) - segment_begin(segments, rows.segment);
    const i64 place = i64(rows.segment) * num_features + rows.feature;
    for (int v = 0; v < vectors; ++v)
        for (int lane = 0; lane < lanes; ++lane)
            store_lane(results, rows.segment, length, place + v * lanes + lane, states[v], lane);
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
    Index item = own.begin.item;
    for (Index segment = own.begin.segment; segment <= own.end.segment; ++segment) {
        const bool ends = segment < own.end.segment;
        const Index end = ends ? segment_end(segments, segment) : own.end.item;
        if (item < end || ends)
            scan_rows(inputs, results, segments, {segment, item, end, 0},
                      segment_begin(segments, segment) < item ? carries : nullptr, ends);
        item = end;
    }
}
