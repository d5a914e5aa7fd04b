// lane_per_feature: Lanes fold the features of a row, the cores equal shares of rows and segment ends
// Segments given as offsets, 32-bit indices.
// feature_lanes = 64
// share_steps = 4096
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
// Emitted by segfold from kernels/cpu/lane_per_feature.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kFeatureLanes = 64;
constexpr int kShareSteps = 4096;
constexpr int kLanes = 16;
constexpr int kPrefetchBytes = 8192;

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

[[gnu::always_inline]] static inline State identity()
{
    return {1, 0};
}

[[gnu::always_inline]] static inline State lift(unsigned x)
{
    return {x * 2 + 1, x * x + 5};
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State p, State q)
{
    return {p.a * q.a, p.b * q.a + q.b};
}

// The results of one feature.
struct RowResult {
    unsigned a;
    unsigned b;
};

[[gnu::always_inline]] static inline RowResult finish_row(Index, Index, State state)
{
    return {state.a, state.b};
}

// The states of all lanes, field by field.
struct States {
    alignas(64) unsigned a[kLanes];
    alignas(64) unsigned b[kLanes];
};

[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return {states.a[lane], states.b[lane]};
}

[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
    states.a[lane] = state.a;
    states.b[lane] = state.b;
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

// One element: the numbers of its columns, and the begin of a block of features in each of its rows.
struct Row {
    const unsigned* x;
};

// Returns the element at `index`; `feature` is the first feature of the block.
[[gnu::always_inline]] static inline Row find_row(const Inputs& inputs, Index index, Index,
                                                  Index, Index feature, Index num_features)
{
    Row row;
    row.x = inputs.x + i64(index) * num_features + feature;
    __builtin_prefetch((const char*)row.x + kPrefetchBytes, 0, 2);
    return row;
}

// Lifts feature `k` of the block.
[[gnu::always_inline]] static inline State lift_feature(const Inputs&, const Row& row, int k,
                                                        Index, Index, Index)
{
    return lift(row.x[k]);
}

// Finishes the total of one feature, and writes each of its results at `place`.
[[gnu::always_inline]] static inline void store_feature(const Results& results, Index segment, Index length,
                                                        i64 place, State total)
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

constexpr int kJoinFeatures = 64;

// Joins the parts of segments that shares have cut, for kJoinFeatures features side by side. The total of
// such a segment consists of the tails of the shares from its begin on, in order, and of the head of the
// share in which it ends. share_items and share_segments tell where each share begins.
extern "C" void join_rows(i64 block,
                          const Segments& segments,
                          const Results& results,
                          const State* share_heads,
                          const State* share_tails,
                          const Index* share_items,
                          const Index* share_segments)
{
    const Index num_features = results.num_features;
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    const Index first = Index(block) * kJoinFeatures;
    const int count = num_features - first < kJoinFeatures ? int(num_features - first) : kJoinFeatures;
    State carries[kJoinFeatures];
    for (int k = 0; k < count; ++k)
        carries[k] = identity();
    for (i64 share = 0; share < num_shares; ++share) {
        const State* heads = share_heads + share * num_features + first;
        const State* tails = share_tails + share * num_features + first;
        const Index segment = share_segments[share];
        const Index end = share + 1 == num_shares ? segments.num_segments : share_segments[share + 1];
        const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : 0;
        const bool is_open = segment < segments.num_segments && begin < share_items[share];
        if (segment < end && is_open) {
            const Index length = segment_end(segments, segment) - begin;
            for (int k = 0; k < count; ++k)
                store_feature(results, segment, length, i64(segment) * num_features + first + k,
                              combine(carries[k], heads[k]));
        }
        const bool goes_on = segment == end && is_open;
        for (int k = 0; k < count; ++k)
            carries[k] = goes_on ? combine(carries[k], tails[k]) : tails[k];
    }
}

// A block of features consists of kVectors vectors. If a block has few vectors, kParts parts of a long
// segment are folded side by side, so that no addition waits for the one before.
constexpr int kVectorLanes = kFeatureLanes < kLanes ? kFeatureLanes : kLanes;
constexpr int kVectors = kFeatureLanes / kVectorLanes;
constexpr int kParts = kVectors < 4 ? 4 / kVectors : 1;
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
}
