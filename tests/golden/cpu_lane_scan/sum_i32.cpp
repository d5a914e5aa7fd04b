// lane_scan: Equal tiles whatever the segments, a segmented scan along each lane, carries joined in order
// Segments given as offsets, 32-bit indices.
// accumulators = 2
// lane_items = 64
// share_steps = 16384
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

constexpr int kAccumulators = 2;
constexpr int kLaneItems = 64;
constexpr int kShareSteps = 16384;
constexpr int kTileItems = 1024;
constexpr int kTotals = 1024;
constexpr int kLanes = 16;
constexpr int kColumns = 16;
constexpr int kFarBytes = 16384;
constexpr int kNearBytes = 128;

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

// Bodies of loops over lanes are functions: a compiler keeps their states in registers, but moves variables
// of the loop itself to memory.
[[gnu::always_inline]] static inline void append(States& totals, int lane, State later)
{
    put(totals, lane, combine(get(totals, lane), later));
}

[[gnu::always_inline]] static inline State choose(bool is_first, State first, State second)
{
    return is_first ? first : second;
}

// Sixteen words of any type that need not be aligned. Clang heeds only the alignment of a typedef.
typedef unsigned Words __attribute__((vector_size(64), aligned(4), may_alias));

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

// Transposes 16 rows of 16 words: word k of row i becomes word i of column k. Rows begin `stride` bytes
// apart.
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

// Many states, field by field.
struct Totals {
    alignas(64) int sum[kTotals];
};

[[gnu::always_inline]] static inline State get_total(const Totals& totals, Index place)
{
    return totals.sum[place];
}

[[gnu::always_inline]] static inline void put_total(Totals& totals, Index place, State state)
{
    totals.sum[place] = state;
}

// Prefetches the line of memory that holds `place`, which may lie behind the end.
[[gnu::always_inline]] static inline void prefetch(const void* place)
{
    __builtin_prefetch(place);
}

// Prefetches the lines to which the results of a segment will be written.
[[gnu::always_inline]] static inline void prefetch_results(const Results& results, Index segment)
{
    __builtin_prefetch(results.result + segment, 1);
}

// kColumns consecutive items of each lane: item k of lane l stands at [k][l].
struct Items {
    alignas(64) int x[kColumns][kLanes];
};

// Takes kColumns items for each lane l, from element first + l * lane_items on. Prefetches the elements
// kFarBytes ahead into the second-level cache, for later tiles, and the elements that each lane takes next.
[[gnu::always_inline]] static inline void take_items(Items& items, const Inputs& inputs, Index first,
                                                     int lane_items)
{
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
        const char* row = (const char*)(inputs.x + first + lane * lane_items);
        __builtin_prefetch(row + kFarBytes, 0, 2);
        __builtin_prefetch(row + kNearBytes);
    }
    transpose_words(inputs.x + first, i64(lane_items) * 4, items.x);
}

// Lifts item k of a lane, which is the element at `index`.
[[gnu::always_inline]] static inline State lift_item(const Inputs&, const Items& items, int k,
                                                     int lane, Index, Index,
                                                     Index)
{
    return lift(items.x[k][lane]);
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

// Joins the parts of segments that shares have cut. The total of such a segment consists of the tails of the
// shares from its begin on, in order, and of the head of the share in which it ends. share_items and
// share_segments tell where each share begins.
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

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    Index index, Index position, Index segment)
{
    append(totals, lane, load_item(inputs, index, position, segment));
}

[[gnu::always_inline]] static inline void join_lanes(States& totals, int lane, const States& others,
                                                     int other)
{
    append(totals, lane, get(others, other));
}

// Folds the items `begin` to `end` - 1 of a segment. Each lane takes every kLanes-th item and keeps several
// totals, so that no addition waits for the one before.
static inline State fold_items(const Inputs& inputs, const Segments& segments, Index segment, Index begin,
                               Index end)
{
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    [[maybe_unused]] const Index position = begin - segment_begin(segments, segment);
    const Index count = end - begin;
    constexpr int kStepItems = kAccumulators * kLanes;
    Index done = 0;
    State total = identity();
    if (count >= kLanes) {
        States totals[kAccumulators];
        #pragma GCC unroll 8
        for (int k = 0; k < kAccumulators; ++k) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                clear(totals[k], lane);
        }
        for (; count - done >= kStepItems; done += kStepItems) {
            #pragma GCC unroll 8
            for (int k = 0; k < kAccumulators; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + k * kLanes + lane;
                    take_item(totals[k], lane, inputs, first + i, position + i, segment);
                }
            }
        }
        for (; count - done >= kLanes; done += kLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane) {
                const Index i = done + lane;
                take_item(totals[0], lane, inputs, first + i, position + i, segment);
            }
        }
        for (int k = 1; k < kAccumulators; ++k) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                join_lanes(totals[0], lane, totals[k], lane);
        }
        #pragma GCC unroll 4
        for (int half = kLanes / 2; half > 0; half /= 2) {
            #pragma omp simd
            for (int lane = 0; lane < half; ++lane)
                join_lanes(totals[0], lane, totals[0], lane + half);
        }
        total = get(totals[0], 0);
    }
    for (; done < count; ++done)
        total = combine(total, load_item(inputs, first + done, position + done, segment));
    return total;
}

// Segments whose totals are read from a tile before the first of them is stored.
constexpr int kBlockSegments = 16 * kLanes;

alignas(64) static const unsigned kLaneBits[kLanes] = {
    0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000};

// A tile after the scan. Item k of lane l is item l * kLaneItems + k of the tile, and its slot is k * kLanes
// + l. If a segment begins with this item, byte `slot` of `marks` is 1 and bit l of heads[k] is set.
// `scanned` has at each slot the total of the lane's items from the last begin of a segment up to this item.
// `carries` has for each lane the total of the earlier items of the segment that is open before the lane.
struct Tile {
    alignas(64) unsigned long long marks[kTileItems / 8];
    alignas(64) unsigned heads[kLaneItems];
    Totals scanned;
    States carries;
};

[[gnu::always_inline]] static inline unsigned slot_of(unsigned place)
{
    return place % kLaneItems * kLanes + place / kLaneItems % kLanes;
}

// Slots of some segments. Functions that use slots are not inlined into those that compute them: a compiler
// that sees both takes slots out of their vectors one by one.
struct Slots {
    alignas(64) unsigned at[kBlockSegments];
};

[[gnu::noinline]] static void mark_slots(unsigned char* marks, const Slots& slots, int count)
{
    for (int done = 0; done < count; done += kLanes) {
        #pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k)
            marks[slots.at[done + k]] = 1;
    }
}

[[gnu::noinline]] static void take_slots(States* totals, const Totals& scanned, const Slots& slots, int count)
{
    for (int done = 0; done < count; done += kLanes) {
        #pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k)
            put(totals[done / kLanes], k, get_total(scanned, slots.at[done + k]));
    }
}

// Marks where segments begin in the tile whose first item is `item`. `segment` is the first segment that ends
// in the tile or behind it. Returns the first segment that ends behind the tile.
[[gnu::noinline]] static Index mark_heads(Tile& tile, const Segments& segments, Index item, Index segment)
{
    const Segments all = segments;
    for (int k = 0; k < kTileItems / 8; ++k)
        tile.marks[k] = 0;
    unsigned char* marks = (unsigned char*)tile.marks;
    Index last = segment;
    Slots slots;
    int count = 0;
    while (all.num_segments - last >= kLanes && segment_end(all, last + kLanes - 1) - item <= kTileItems) {
        prefetch(all.offsets + last + 2 * kBlockSegments);
        #pragma omp simd
        for (int k = 0; k < kLanes; ++k)
            slots.at[count + k] = slot_of(segment_end(all, last + k) - item);
        last += kLanes;
        count += kLanes;
        if (count == kBlockSegments) {
            mark_slots(marks, slots, count);
            count = 0;
        }
    }
    mark_slots(marks, slots, count);
    for (; last < all.num_segments && segment_end(all, last) - item <= kTileItems; ++last)
        marks[slot_of(segment_end(all, last) - item)] = 1;
    // A segment that ends with the tile has marked the slot of the tile's first item, so this slot is written
    // again.
    marks[0] = segment < all.num_segments && segment_begin(all, segment) == item;
    // One multiplication gathers the lowest bits of eight bytes.
    constexpr unsigned long long kBits = 0x0102040810204080;
    #pragma omp simd
    for (int k = 0; k < kLaneItems; ++k) {
        const unsigned low = tile.marks[2 * k] * kBits >> 56;
        const unsigned high = tile.marks[2 * k + 1] * kBits >> 56;
        tile.heads[k] = low | high << 8;
    }
    return last;
}

// Joins item k of a lane to the lane's total, or begins a new total if a segment begins with the item.
[[gnu::always_inline]] static inline void scan_item(States& totals, Totals& scanned, const Inputs& inputs,
                                                    const Items& items, int taken, int k, int lane,
                                                    Index index, unsigned heads)
{
    const State item = lift_item(inputs, items, k, lane, index, 0, 0);
    const State joined = combine(get(totals, lane), item);
    const State total = choose((heads & kLaneBits[lane]) != 0, item, joined);
    put(totals, lane, total);
    put_total(scanned, (taken + k) * kLanes + lane, total);
}

// Joins a lane's total to the carry, or replaces the carry if a segment begins in the lane. All lanes of
// `carry` hold the same state, so this is a choice between values and no branch.
[[gnu::always_inline]] static inline void pass_lane(States& carry, int copy, const States& totals, int lane,
                                                    unsigned heads)
{
    const State total = get(totals, lane);
    const State joined = combine(get(carry, copy), total);
    put(carry, copy, choose((heads & (1u << lane)) != 0, total, joined));
}

// Scans the tile whose first item is `begin`. `open` is the total of the segment that is open before the
// tile. Returns the total of the segment that is open behind the tile.
[[gnu::noinline]] static State scan_tile(Tile& tile, const Inputs& inputs, Index begin, State open)
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
                scan_item(totals, tile.scanned, inputs, items, taken, k, lane,
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
            pass_lane(carry, copy, totals, lane, any[lane]);
    }
    return get(carry, 0);
}

[[gnu::always_inline]] static inline void carry_item(Totals& scanned, int k, int lane, const States& carries,
                                                     unsigned open)
{
    const State total = get_total(scanned, k * kLanes + lane);
    const State joined = combine(get(carries, lane), total);
    put_total(scanned, k * kLanes + lane, choose((open & kLaneBits[lane]) != 0, joined, total));
}

// Joins each lane's carry to the lane's totals before the first begin of a segment.
[[gnu::noinline]] static void carry_totals(Tile& tile)
{
    unsigned open = 0xffff;
    #pragma GCC unroll 1
    for (int k = 0; k < kLaneItems; ++k) {
        open &= ~tile.heads[k];
        if (open == 0)
            return;
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            carry_item(tile.scanned, k, lane, tile.carries, open);
    }
}

// Stores the total of a segment that ends in the tile and began in the share. `carry` is the carry of the
// lane in which it ends. If `is_carried` is true, carry_totals() has joined it already.
[[gnu::always_inline]] static inline void store_segment(const Segments& segments, const Results& results,
                                                        Index item, Index segment, State total, State carry,
                                                        bool is_carried)
{
    const Index from = segment_begin(segments, segment);
    const Index to = segment_end(segments, segment);
    const unsigned lane = unsigned(to - item - 1) / kLaneItems % kLanes;
    const bool is_cut = !is_carried && from < item + Index(lane) * kLaneItems;
    store(results, segment, to - from,
          choose(from == to, identity(), choose(is_cut, combine(carry, total), total)));
}

[[gnu::always_inline]] static inline void store_lane(const Segments& segments, const Results& results,
                                                     Index item, Index first, const States& totals,
                                                     const States& carries, int lane, bool is_carried)
{
    store_segment(segments, results, item, first + lane, get(totals, lane), get(carries, lane), is_carried);
}

[[gnu::always_inline]] static inline void take_carry(States& carries, int lane, const Segments& segments,
                                                     Index item, Index segment, const States& of_lanes)
{
    const unsigned place = segment_end(segments, segment) - item - 1;
    put(carries, lane, get(of_lanes, place / kLaneItems % kLanes));
}

// Stores `count` segments from `first` on; `count` is a multiple of kLanes. Totals lie scattered, so they are
// read one by one. They are read long before they are used, because a processor does not forward parts of a
// vector that it has just stored.
[[gnu::noinline]] static void store_segments(const Tile& tile, const Segments& segments,
                                             const Results& results, Index item, Index first, int count,
                                             bool is_carried)
{
    const Segments all = segments;
    Slots slots;
    #pragma omp simd
    for (int k = 0; k < count; ++k)
        slots.at[k] = slot_of(segment_end(all, first + k) - item - 1);
    States totals[kBlockSegments / kLanes];
    take_slots(totals, tile.scanned, slots, count);
    for (int done = 0; done < count; done += kLanes) {
        prefetch_results(results, first + done + 2 * kBlockSegments);
        States carries;
        if (is_carried) {
            #pragma omp simd
            for (int k = 0; k < kLanes; ++k)
                clear(carries, k);
        } else {
            #pragma omp simd
            for (int k = 0; k < kLanes; ++k)
                take_carry(carries, k, all, item, first + done + k, tile.carries);
        }
        #pragma omp simd
        for (int k = 0; k < kLanes; ++k)
            store_lane(all, results, item, first + done, totals[done / kLanes], carries, k, is_carried);
    }
}

// Stores the segments `first` to `last` - 1, which end in the tile and began in the share.
static inline void store_tile(Tile& tile, const Segments& segments, const Results& results, Index item,
                              Index first, Index last)
{
    const bool is_carried = last - first >= kLaneItems;
    if (is_carried)
        carry_totals(tile);
    while (last - first >= kLanes) {
        const Index left = (last - first) / kLanes * kLanes;
        const int count = left < kBlockSegments ? left : kBlockSegments;
        store_segments(tile, segments, results, item, first, count, is_carried);
        first += count;
    }
    for (; first < last; ++first) {
        const unsigned slot = slot_of(segment_end(segments, first) - item - 1);
        store_segment(segments, results, item, first, get_total(tile.scanned, slot),
                      get(tile.carries, slot % kLanes), is_carried);
    }
}

// Returns where a share begins: the first item of a tile, and the first segment that ends behind this item.
// This segment is near the share's cut, whose offsets are in the cache. So the search goes back from the cut,
// in steps that double.
static inline Cut tile_begin(const Segments& segments, i64 share)
{
    if (share == 0)
        return {0, 0};
    const Cut cut = share_begin(segments, share);
    if (cut.item == segments.num_items)
        return {segments.num_items, segments.num_segments};
    const Index item = cut.item / kTileItems * kTileItems;
    Index low = cut.segment;
    Index high = segments.num_segments;
    if (low < high && segment_end(segments, low) > item) {
        high = low;
        for (Index step = 1; low > 0 && segment_end(segments, low - 1) > item; step *= 2) {
            high = low - 1;
            low = high > step ? high - step : 0;
        }
    }
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (segment_end(segments, middle) <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return {item, low};
}

// Returns the number of items, from `item` on and before `end`, in whole tiles that lie inside of `segment`.
// The segment does not end in these tiles.
static inline Index items_inside(const Segments& segments, Index segment, Index item, Index end)
{
    if (segment == segments.num_segments || segment_begin(segments, segment) > item)
        return 0;
    const Index last = segment_end(segments, segment) - 1;
    const Index inside = (last < end ? last : end) - item;
    return inside / kTileItems * kTileItems;
}

// A share scans its tiles one after the other. Tiles that lie inside of a segment are folded without a scan.
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
    while (end.item - item >= kTileItems) {
        const Index inside = items_inside(segments, segment, item, end.item);
        if (inside > 0) {
            const State total = fold_items(inputs, segments, segment, item, item + inside);
            open = segment_begin(segments, segment) < item ? combine(open, total) : total;
            item += inside;
            continue;
        }
        const Index last = mark_heads(tile, segments, item, segment);
        open = scan_tile(tile, inputs, item, open);
        Index first = segment;
        if (segment < last && segment_begin(segments, segment) < begin.item) {
            const unsigned slot = slot_of(segment_end(segments, segment) - item - 1);
            const unsigned lane = slot % kLanes;
            share_heads[share] = get_total(tile.scanned, slot);
            if (segment_begin(segments, segment) < item + Index(lane) * kLaneItems)
                share_heads[share] = combine(get(tile.carries, lane), share_heads[share]);
            ++first;
        }
        store_tile(tile, segments, results, item, first, last);
        segment = last;
        item += kTileItems;
    }
    // Folds the items behind the share's last whole tile.
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
