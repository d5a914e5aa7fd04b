// lane_scan: Equal tiles whatever the segments, a segmented scan along each lane, carries joined in order
// Segments given as offsets, 32-bit indices.
// lane_items = 128
// share_steps = 65536
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/cpu/lane_scan.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kLaneItems = 128;
constexpr int kShareSteps = 65536;
constexpr int kTileItems = 2048;
constexpr int kLanes = 16;
constexpr int kColumns = 16;
constexpr int kPrefetchBytes = 8192;

struct Inputs {
    const int* x;
};

struct Results {
    int* result;
};

using State = int;

[[gnu::always_inline]] static inline State identity()
{
    return 0;
}

[[gnu::always_inline]] static inline State lift(int x)
{
    return x;
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
[[gnu::always_inline]] static inline State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    return int(unsigned(a) + unsigned(b));
}

// Writes the total of a segment.
[[gnu::always_inline]] static inline void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
}

// The states of all lanes, field by field.
struct States {
    alignas(64) int sum[kLanes];
};

[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return states.sum[lane];
}

[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
    states.sum[lane] = state;
}

[[gnu::always_inline]] static inline void clear(States& states, int lane)
{
    put(states, lane, identity());
}

[[gnu::always_inline]] static inline State choose(bool is_first, State first, State second)
{
    return is_first ? first : second;
}

// Sixteen words that need not be aligned; they may be those of any type.
using Words = unsigned __attribute__((vector_size(64), aligned(4), may_alias));

[[gnu::always_inline]] static inline Words low_words(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
}

[[gnu::always_inline]] static inline Words high_words(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}

[[gnu::always_inline]] static inline Words low_pairs(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

[[gnu::always_inline]] static inline Words high_pairs(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}

[[gnu::always_inline]] static inline Words even_quads(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
}

[[gnu::always_inline]] static inline Words odd_quads(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}

// Word k of row i becomes word i of column k. Rows begin `stride` bytes apart.
[[gnu::always_inline]] static inline void transpose_words(const void* rows, i64 stride, void* columns)
{
    const char* from = (const char*)rows;
    Words* to = (Words*)columns;
    Words a[16], b[16];
    #pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
        a[i] = *(const Words*)(from + i * stride);
    #pragma GCC unroll 16
    for (int i = 0; i < 16; i += 2) {
        b[i] = low_words(a[i], a[i + 1]);
        b[i + 1] = high_words(a[i], a[i + 1]);
    }
    #pragma GCC unroll 16
    for (int i = 0; i < 16; i += 4) {
        a[i] = low_pairs(b[i], b[i + 2]);
        a[i + 1] = high_pairs(b[i], b[i + 2]);
        a[i + 2] = low_pairs(b[i + 1], b[i + 3]);
        a[i + 3] = high_pairs(b[i + 1], b[i + 3]);
    }
    #pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        const Words first = even_quads(a[k], a[k + 4]);
        const Words second = odd_quads(a[k], a[k + 4]);
        const Words third = even_quads(a[k + 8], a[k + 12]);
        const Words fourth = odd_quads(a[k + 8], a[k + 12]);
        to[k] = even_quads(first, third);
        to[k + 4] = even_quads(second, fourth);
        to[k + 8] = odd_quads(first, third);
        to[k + 12] = odd_quads(second, fourth);
    }
}

// kColumns consecutive items of each lane: item k of lane l stands at [k][l].
struct Items {
    alignas(64) int x[kColumns][kLanes];
};

// Takes those of lane l from element first + l * lane_items on, and asks for what lies kPrefetchBytes ahead.
[[gnu::always_inline]] static inline void take_items(Items& items, const Inputs& inputs, Index first,
                                                     int lane_items)
{
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane)
        __builtin_prefetch((const char*)(inputs.x + first + lane * lane_items) + kPrefetchBytes);
    transpose_words(inputs.x + first, i64(lane_items) * 4, items.x);
}

// Item k of a lane, which is the element at `index` of the input, lifted.
[[gnu::always_inline]] static inline State lift_item(const Inputs&, const Items& items, int k,
                                                     int lane, Index, Index,
                                                     Index)
{
    return lift(items.x[k][lane]);
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
static inline Index element_of(const Segments& segments, Index segment, Index item)
{
    return item;
}

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

// A segment that began before a share and ends in it waits for the total of what lies before: the tails of
// the shares from its begin on, joined in order, then the share's head. share_items and share_segments say
// where each share begins.
extern "C" void join_shares(i64,
                            const Segments& segments,
                            const Results& results,
                            const State* share_heads,
                            const State* share_tails,
                            const Index* share_items,
                            const Index* share_segments)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    State carry = identity();
    for (i64 share = 0; share < num_shares; ++share) {
        const Index segment = share_segments[share];
        const Index end = share + 1 == num_shares ? segments.num_segments : share_segments[share + 1];
        const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : 0;
        const bool is_open = segment < segments.num_segments && begin < share_items[share];
        if (segment == end) {
            carry = is_open ? combine(carry, share_tails[share]) : share_tails[share];
            continue;
        }
        if (is_open)
            store(results, segment, segment_end(segments, segment) - begin,
                  combine(carry, share_heads[share]));
        carry = share_tails[share];
    }
}

// What a tile leaves: bit `lane` of heads[k] says that a segment begins at item k of the lane, scanned[k]
// has the total from the last segment begin up to that item, carries the total of what lies before each lane
// of the segment that is open there.
struct Tile {
    unsigned heads[kLaneItems];
    States scanned[kLaneItems];
    States carries;
};

// Joins item k of a lane to the lane's total, or begins a new total with it.
[[gnu::always_inline]] static inline void scan_item(States& totals, States& scanned, const Inputs& inputs,
                                                    const Items& items, int k, int lane, Index index,
                                                    unsigned heads)
{
    const State item = lift_item(inputs, items, k, lane, index, 0, 0);
    const State joined = combine(get(totals, lane), item);
    const State total = choose((heads & (1u << lane)) != 0, item, joined);
    put(totals, lane, total);
    put(scanned, lane, total);
}

// Goes past a lane: each lane of `carry` holds the same, so that whether a segment begins is a choice and no
// branch.
[[gnu::always_inline]] static inline void pass_lane(States& carry, int copy, const States& totals, int lane,
                                                    unsigned heads)
{
    const State total = get(totals, lane);
    const State joined = combine(get(carry, copy), total);
    put(carry, copy, choose((heads & (1u << lane)) != 0, total, joined));
}

// Scans the tile whose first item is `begin`; `open` is the total of the segment that is open there. Returns
// that of the segment that is open behind it.
static inline State scan_tile(Tile& tile, const Inputs& inputs, Index begin, State open)
{
    States totals;
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        clear(totals, lane);
    unsigned any_heads = 0;
    Items items;
    #pragma GCC unroll 1
    for (int taken = 0; taken < kLaneItems; taken += kColumns) {
        take_items(items, inputs, begin + taken, kLaneItems);
        #pragma GCC unroll 16
        for (int k = 0; k < kColumns; ++k) {
            const unsigned heads = tile.heads[taken + k];
            any_heads |= heads;
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                scan_item(totals, tile.scanned[taken + k], inputs, items, k, lane,
                          begin + lane * kLaneItems + taken + k, heads);
        }
    }
    unsigned any[kLanes];
    States carry;
    #pragma omp simd
    for (int copy = 0; copy < kLanes; ++copy) {
        any[copy] = any_heads;
        put(carry, copy, open);
    }
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
        put(tile.carries, lane, get(carry, 0));
        #pragma omp simd
        for (int copy = 0; copy < kLanes; ++copy)
            pass_lane(carry, copy, totals, lane, any[copy]);
    }
    return get(carry, 0);
}

// Stores the total of a segment that ends in the tile and began in the share.
[[gnu::always_inline]] static inline void store_segment(const Tile& tile, const Segments& segments,
                                                        const Results& results, Index item, Index segment)
{
    const Index from = segment_begin(segments, segment);
    const Index to = segment_end(segments, segment);
    const unsigned place = to > item ? to - item - 1 : 0;
    const unsigned lane = place / kLaneItems;
    const State total = get(tile.scanned[place % kLaneItems], lane);
    const State joined = combine(get(tile.carries, lane), total);
    const bool is_cut = from < item + Index(lane) * kLaneItems;
    store(results, segment, to - from, choose(from == to, identity(), choose(is_cut, joined, total)));
}

// Where a share begins: at a tile, and with the first segment that ends behind that place.
static inline Cut tile_begin(const Segments& segments, i64 share)
{
    if (share == 0)
        return {0, 0};
    Index item = share_begin(segments, share).item;
    if (item == segments.num_items)
        return {segments.num_items, segments.num_segments};
    item = item / kTileItems * kTileItems;
    Index low = 0;
    Index high = segments.num_segments;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (segment_end(segments, middle) <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return {item, low};
}

// A share scans its tiles one after the other. No step depends on how long segments are.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results,
                           State* share_heads,
                           State* share_tails,
                           Index* share_items,
                           Index* share_segments)
{
    const Cut begin = tile_begin(segments, share);
    const Cut end = tile_begin(segments, share + 1);
    share_items[share] = begin.item;
    share_segments[share] = begin.segment;
    Index segment = begin.segment;
    Index item = begin.item;
    State open = identity();
    Tile tile;
    for (; end.item - item >= kTileItems; item += kTileItems) {
        for (int k = 0; k < kLaneItems; ++k)
            tile.heads[k] = 0;
        tile.heads[0] = segment < segments.num_segments && segment_begin(segments, segment) == item;
        // A segment that ends with the tile sets a bit behind those of the lanes.
        Index last = segment;
        for (; last < segments.num_segments; ++last) {
            const Index place = segment_end(segments, last) - item;
            if (place > kTileItems)
                break;
            tile.heads[unsigned(place) % kLaneItems] |= 1u << (unsigned(place) / kLaneItems);
        }
        open = scan_tile(tile, inputs, item, open);
        Index first = segment;
        if (segment < last && segment_begin(segments, segment) < begin.item) {
            const unsigned place = segment_end(segments, segment) - item - 1;
            const unsigned lane = place / kLaneItems;
            share_heads[share] = get(tile.scanned[place % kLaneItems], lane);
            if (segment_begin(segments, segment) < item + Index(lane) * kLaneItems)
                share_heads[share] = combine(get(tile.carries, lane), share_heads[share]);
            ++first;
        }
        #pragma omp simd
        for (Index s = first; s < last; ++s)
            store_segment(tile, segments, results, item, s);
        segment = last;
    }
    // What is left is less than a tile, behind the last one.
    for (; segment < end.segment; ++segment) {
        const Index from = segment_begin(segments, segment);
        const Index to = segment_end(segments, segment);
        State total = from < item ? open : identity();
        for (; item < to; ++item)
            total = combine(total, load_item(inputs, item, 0, 0));
        open = identity();
        if (from < begin.item)
            share_heads[share] = total;
        else
            store(results, segment, to - from, total);
    }
    for (; item < end.item; ++item)
        open = combine(open, load_item(inputs, item, 0, 0));
    share_tails[share] = open;
}
