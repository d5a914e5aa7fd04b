// lane_per_feature: Lanes fold the features of a row, the cores equal shares of rows and segment ends
// Segments given as offsets, 32-bit indices.
// feature_lanes = 16
// share_steps = 4096
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
// Emitted by segfold from kernels/cpu/lane_per_feature.cpp; edit that file instead.

using Index = int;
using u16 = unsigned short;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kFeatureLanes = 16;
constexpr int kShareSteps = 4096;
constexpr int kLanes = 16;
constexpr int kPrefetchBytes = 8192;

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

[[gnu::always_inline]] static inline State identity()
{
    return {1, 0};
}

[[gnu::always_inline]] static inline State lift(unsigned x, u16 weight)
{
    return {x * 2 + 1, x + unsigned(weight)};
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

// What a loop over lanes does stands in functions: a compiler keeps states in registers there, which it moves
// to memory where they are variables of the loop itself.
[[gnu::always_inline]] static inline void append(States& totals, int lane, State later)
{
    put(totals, lane, combine(get(totals, lane), later));
}

// What one element gets.
struct Mapped {
    u64 told;
};

// What an element gets, from the results of its segment.
[[gnu::always_inline]] static inline Mapped map_element(unsigned x, u16 weight, unsigned a, unsigned b,
    Index index, Index position)
{
    return {u64(a) * 31 + u64(b) * 17 + u64(x) * 7 + u64(weight) + u64(position) * 1000003 + u64(index)};
}

// Maps a feature of the element at `index` of the input with that of the results of its segment, and writes
// its outputs.
[[gnu::always_inline]] static inline void map_feature(const Inputs& inputs, const Results& results,
                                                      Index index, Index position, Index segment,
                                                      Index, Index feature, Index num_features)
{
    const i64 place = i64(index) * num_features + feature;
    [[maybe_unused]] const i64 total = i64(segment) * num_features + feature;
    const Mapped mapped = map_element(inputs.x[place], inputs.weight[index], results.a[total],
        results.b[total], index, position);
    results.told[place] = mapped.told;
}

// One element: the numbers of its columns, and where a block of features begins in each of its rows.
struct Row {
    u16 weight;
    const unsigned* x;
};

// The element at `index` of the input; `feature` is the first of the block.
[[gnu::always_inline]] static inline Row find_row(const Inputs& inputs, Index index, Index,
                                                  Index, Index feature, Index num_features)
{
    Row row;
    row.weight = inputs.weight[index];
    row.x = inputs.x + i64(index) * num_features + feature;
    __builtin_prefetch((const char*)row.x + kPrefetchBytes, 0, 2);
    return row;
}

// Feature `k` of the block, lifted.
[[gnu::always_inline]] static inline State lift_feature(const Inputs&, const Row& row, int k,
                                                        Index, Index, Index)
{
    return lift(row.x[k], row.weight);
}

// Finishes the total of one feature and writes its results to `place` of each.
[[gnu::always_inline]] static inline void store_feature(const Results& results, Index segment, Index length,
                                                        i64 place, State total)
{
    const RowResult result = finish_row(segment, length, total);
    results.a[place] = result.a;
    results.b[place] = result.b;
}

// Segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// First item of a segment.
static inline Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// One past the last item of a segment.
static inline Index segment_end(const Segments& segments, Index segment)
{
    return segment_begin(segments, segment + 1);
}

// The element that is an item of a segment.
static inline Index element_of(const Segments&, Index, Index item) { return item; }

// A place on the path that passes every item and, behind its last item, the end of every segment.
struct Cut {
    Index item;     // the first that is not passed
    Index segment;  // the first whose end is not passed
};

// Where a share begins. Shares are equal steps of the path, so each has as many items and ends as any other.
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

// As many features are joined side by side: of each, the tails of the shares from a segment's begin on, in
// order, then the head of the share in which it ends. share_items and share_segments say where each share
// begins.
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

// Maps the rows `begin` to `end` - 1 of a segment, whose results are stored.
static inline void map_items(const Inputs& inputs, const Results& results, const Segments& segments,
                             Index segment, Index begin, Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Index num_features = results.num_features;
    const Index rest = num_features / kFeatureLanes * kFeatureLanes;
    const Index start = segment_begin(segments, segment);
    const Index length = segment_end(segments, segment) - start;
    for (Index item = begin; item < end; ++item) {
        const Index index = element_of(segments, segment, item);
        for (Index first = 0; first < rest; first += kFeatureLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kFeatureLanes; ++lane)
                map_feature(columns, all, index, item - start, segment, length, first + lane, num_features);
        }
        #pragma omp simd
        for (Index feature = rest; feature < num_features; ++feature)
            map_feature(columns, all, index, item - start, segment, length, feature, num_features);
    }
}

// Maps what a share has folded, which the cache still holds: the segments from `segment` to `end` - 1. One
// that began before `item`, where the share begins, has no results yet.
static inline void map_inside(const Inputs& inputs, const Results& results, const Segments& segments,
                              Index item, Index segment, Index end)
{
    if (segment < end && segment_begin(segments, segment) < item)
        ++segment;
    while (segment < end) {
        const Index first = segment_begin(segments, segment);
        map_items(inputs, results, segments, segment, first, segment_end(segments, segment));
        ++segment;
    }
}

// Maps what a share has of segments that other shares have parts of, when their parts are joined.
// share_items and share_segments say where each share begins.
extern "C" void map_borders(i64 share,
                            const Inputs& inputs,
                            const Segments& segments,
                            const Results& results,
                            const Index* share_items,
                            const Index* share_segments)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    const bool is_last = share + 1 >= num_shares;
    const Index item = share_items[share];
    const Index end = is_last ? segments.num_items : share_items[share + 1];
    const Index first = share_segments[share];
    const Index last = is_last ? segments.num_segments : share_segments[share + 1];
    if (first < last && segment_begin(segments, first) < item)
        map_items(inputs, results, segments, first, item, segment_end(segments, first));
    if (last == segments.num_segments)
        return;
    const Index begin = segment_begin(segments, last);
    if (begin < end)
        map_items(inputs, results, segments, last, begin < item ? item : begin, end);
}

// A block of features is made of kVectors vectors. Of long segments, and where a block has few vectors, so
// many parts are folded side by side that no addition waits for the one before.
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

// Appends `count` rows to the totals of each part, the first of which begins with the element at `index`. A
// row has `vectors` vectors of `lanes` features in the block.
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

// The totals of a block of features of the items `begin` to `end` - 1 of a segment.
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
// with the row, and overlaps the one before.
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

// A share folds the segments on its piece of the path. What it has of a segment that began before it, and of
// one that ends behind it, waits for join_rows. Rows shorter than a block are folded feature by feature.
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
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
}
