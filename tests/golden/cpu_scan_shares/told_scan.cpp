// scan_shares: Running results: equal shares, the states open between them joined, then each share walked
// Segments given as offsets, 32-bit indices.
// share_steps = 65536
//
// Exact and not commutative: each output tells the states before its element and with it, and its places.
// operator told_scan(x: u32) -> (hash: u64, power: u64, each told: u64) {
//   state { hash: u64 = 0; power: u64 = 1 }
//   lift {
//     hash = u64(x) * 13787848793156543929 + 1;
//     power = 15074714826142052245;
//   }
//   combine(a, b) {
//     hash = a.hash * b.power + b.hash;
//     power = a.power * b.power;
//   }
//   scan(before, through) through.hash * 31 + before.hash * 7 + u64(x) + u64(index + position * 5 + segment)
// }
//
// Emitted by segfold from kernels/cpu/scan_shares.cpp; edit that file instead.

using Index = int;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kShareSteps = 65536;
constexpr int kLanes = 16;
constexpr int kColumns = 16;
constexpr int kFarBytes = 16384;
constexpr int kNearBytes = 128;

struct Inputs {
    const unsigned* x;
};

struct Results {
    u64* hash;
    u64* power;
    u64* told;  // of each element
};

struct State {
    u64 hash;
    u64 power;
};

[[gnu::always_inline]] static inline State identity()
{
    return {0, 1};
}

[[gnu::always_inline]] static inline State lift(unsigned x)
{
    return {u64(x) * 13787848793156543929ull + 1, 15074714826142052245ull};
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
[[gnu::always_inline]] static inline State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    return {a.hash * b.power + b.hash, a.power * b.power};
}

// Writes the total of a segment.
[[gnu::always_inline]] static inline void store(const Results& results, Index segment, Index, State state)
{
    results.hash[segment] = state.hash;
    results.power[segment] = state.power;
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

// kColumns consecutive items of each lane: item k of lane l stands at [k][l].
struct Items {
    alignas(64) unsigned x[kColumns][kLanes];
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

// Writes the outputs of the element at `index` of the input, from its segment's states before this element
// and with it.
[[gnu::always_inline]] static inline void scan_item(const Inputs& inputs, const Results& results,
                                                    State before, State through, Index index,
                                                    Index position, Index segment)
{
    const Scanned scanned = scan_element(before, through, inputs.x[index], index, position, segment);
    results.told[index] = scanned.told;
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

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    const Items& items, int k, Index index, Index position,
                                                    Index segment)
{
    append(totals, lane, lift_item(inputs, items, k, lane, index, position, segment));
}

// Folds the items `begin` to `end` - 1 of a segment. Each lane takes consecutive items, and the lanes' totals
// are joined from left to right.
static inline State fold_items(const Inputs& inputs, const Segments& segments, Index segment, Index begin,
                               Index end)
{
    constexpr int kLaneItems = 8 * kColumns;
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    [[maybe_unused]] const Index position = begin - segment_begin(segments, segment);
    const Index count = end - begin;
    Index done = 0;
    State total = identity();
    while (count - done >= kLanes * kColumns) {
        const int lane_items = count - done >= kLanes * kLaneItems ? kLaneItems : kColumns;
        States totals;
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            clear(totals, lane);
        Items items;
        for (int taken = 0; taken < lane_items; taken += kColumns) {
            take_items(items, inputs, first + done + taken, lane_items);
            for (int k = 0; k < kColumns; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + taken + k + lane * lane_items;
                    take_item(totals, lane, inputs, items, k, first + i, position + i, segment);
                }
            }
        }
        for (int lane = 0; lane < kLanes; ++lane)
            total = combine(total, get(totals, lane));
        done += kLanes * lane_items;
    }
    for (; done < count; ++done)
        total = combine(total, load_item(inputs, first + done, position + done, segment));
    return total;
}

// Folds the share's part of the segment that goes on behind the share. The state of the last share is not
// used.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           State* share_states)
{
    const Span open = open_span(segments, share_of(segments, share));
    share_states[share] = open.begin < open.end
                              ? fold_items(inputs, segments, open.segment, open.begin, open.end)
                              : identity();
}

// Joins the states that fold_share() left, along the way of the scan. Each share gets the state with which
// its first segment begins.
extern "C" void join_carries(i64, const Segments& segments, State* share_states)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    State carry = identity();
    for (i64 k = 0; k < num_shares; ++k) {
        const i64 share = k;
        const State own = share_states[share];
        share_states[share] = carry;
        carry = open_span(segments, share_of(segments, share)).goes_through ? joined(carry, own) : own;
    }
}

// Consecutive items of a segment, in the order in which the scan takes them.
struct Run {
    Index index;     // place of the first item in the input
    Index position;  // place of the first item in its segment
    Index segment;
};

[[gnu::always_inline]] static inline Index step_of(Index k)
{
    return k;
}

[[gnu::always_inline]] static inline State item_of(const Inputs& inputs, const Run& run, Index k)
{
    return load_item(inputs, run.index + step_of(k), run.position + step_of(k), run.segment);
}

// Scans item k of a run. `is_first` is true if the scan enters the segment with this item.
[[gnu::always_inline]] static inline State scan_step(const Inputs& inputs, const Results& results,
                                                     const Run& run, Index k, State before, bool is_first)
{
    const Index index = run.index + step_of(k);
    const Index position = run.position + step_of(k);
    const State item = item_of(inputs, run, k);
    const State through = is_first ? item : joined(before, item);
    scan_item(inputs, results, before, through, index, position, run.segment);
    return through;
}

// A block of a long run is cut into pieces that are scanned side by side, so that few items wait for the item
// before. The pieces are folded first, which gives the state before each piece.
constexpr int kPieces = sizeof(State) <= 8 ? 8 : 4;
constexpr Index kPieceItems = 64;

[[gnu::noinline]] static State scan_pieces(const Inputs& inputs, const Results& results, const Run& run,
                                           Index first, State before)
{
    const Inputs columns = inputs;
    const Results all = results;
    State totals[kPieces];
    #pragma GCC unroll 8
    for (int piece = 0; piece < kPieces; ++piece)
        totals[piece] = item_of(columns, run, first + piece * kPieceItems);
    for (Index k = 1; k < kPieceItems; ++k) {
        #pragma GCC unroll 8
        for (int piece = 0; piece < kPieces; ++piece)
            totals[piece] = joined(totals[piece], item_of(columns, run, first + piece * kPieceItems + k));
    }
    State states[kPieces];
    states[0] = before;
    #pragma GCC unroll 8
    for (int piece = 1; piece < kPieces; ++piece)
        states[piece] = joined(states[piece - 1], totals[piece - 1]);
    for (Index k = 0; k < kPieceItems; ++k) {
        #pragma GCC unroll 8
        for (int piece = 0; piece < kPieces; ++piece)
            states[piece] =
                scan_step(columns, all, run, first + piece * kPieceItems + k, states[piece], false);
    }
    return states[kPieces - 1];
}

// Scans the items `begin` to `end` - 1 of a segment, and returns the state behind them.
static inline State scan_items(const Inputs& inputs, const Results& results, const Segments& segments,
                               Index segment, Index begin, Index end, State before)
{
    const Index start = segment_begin(segments, segment);
    const Index first = begin;
    const bool is_first = begin == start;
    const Run run = {element_of(segments, segment, first), first - start, segment};
    const Index count = end - begin;
    if (is_first)
        before = scan_step(inputs, results, run, 0, before, true);
    Index k = is_first ? 1 : 0;
    for (; count - k >= kPieces * kPieceItems; k += kPieces * kPieceItems)
        before = scan_pieces(inputs, results, run, k, before);
    for (; k < count; ++k)
        before = scan_step(inputs, results, run, k, before, false);
    return before;
}

// A share scans its segments one after the other. The first state is the one that the shares before it leave
// open, if there is one.
extern "C" void scan_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const State* share_states,
                           const Results& results)
{
    const Share own = share_of(segments, share);
    State state = identity();
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    if (num_shares > 1)
        state = share_states[share];
    Index item = own.begin.item;
    for (Index segment = own.begin.segment; segment <= own.end.segment; ++segment) {
        const bool ends = segment < own.end.segment;
        const Index end = ends ? segment_end(segments, segment) : own.end.item;
        if (item < end)
            state = scan_items(inputs, results, segments, segment, item, end, state);
        if (!ends)
            break;
        store(results, segment, end - segment_begin(segments, segment), state);
        state = identity();
        item = end;
    }
}
