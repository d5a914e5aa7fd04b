// vector_per_segment: All lanes of a vector fold one segment, the cores equal shares of it
// Segments given as offsets, 32-bit indices.
// share_steps = 65536
//
// Composition of the maps v -> scale * v + shift, earlier ones first; not commutative.
// operator affine(scale: u32, shift: u32) -> (scale: u32, shift: u32) {
//   state { scale: u32 = 1; shift: u32 = 0 }
//   lift {
//     scale = scale;
//     shift = shift;
//   }
//   combine(a, b) {
//     scale = a.scale * b.scale;
//     shift = a.shift * b.scale + b.shift;
//   }
// }
//
// Emitted by segfold from kernels/cpu/vector_per_segment.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kShareSteps = 65536;
constexpr int kLanes = 16;
constexpr int kColumns = 16;
constexpr int kFarBytes = 16384;
constexpr int kNearBytes = 128;

struct Inputs {
    const unsigned* scale;
    const unsigned* shift;
};

struct Results {
    unsigned* scale;
    unsigned* shift;
};

struct State {
    unsigned scale;
    unsigned shift;
};

[[gnu::always_inline]] static inline State identity()
{
    return {1, 0};
}

[[gnu::always_inline]] static inline State lift(unsigned scale, unsigned shift)
{
    return {scale, shift};
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
[[gnu::always_inline]] static inline State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.scale[index], inputs.shift[index]);
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
}

// Writes the total of a segment.
[[gnu::always_inline]] static inline void store(const Results& results, Index segment, Index, State state)
{
    results.scale[segment] = state.scale;
    results.shift[segment] = state.shift;
}

// The states of all lanes, field by field.
struct States {
    alignas(64) unsigned scale[kLanes];
    alignas(64) unsigned shift[kLanes];
};

[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return {states.scale[lane], states.shift[lane]};
}

[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
    states.scale[lane] = state.scale;
    states.shift[lane] = state.shift;
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

// Sixteen words that need not be aligned; they may be those of any type. Clang heeds the alignment of a
// typedef alone.
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
    alignas(64) unsigned scale[kColumns][kLanes];
    alignas(64) unsigned shift[kColumns][kLanes];
};

// Takes those of lane l from element first + l * lane_items on. Asks for what lies kFarBytes ahead, which
// comes to the second cache while other tiles are folded, and for what each lane takes soon.
[[gnu::always_inline]] static inline void take_items(Items& items, const Inputs& inputs, Index first,
                                                     int lane_items)
{
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
        const char* row = (const char*)(inputs.scale + first + lane * lane_items);
        __builtin_prefetch(row + kFarBytes, 0, 2);
        __builtin_prefetch(row + kNearBytes);
    }
    transpose_words(inputs.scale + first, i64(lane_items) * 4, items.scale);
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
        const char* row = (const char*)(inputs.shift + first + lane * lane_items);
        __builtin_prefetch(row + kFarBytes, 0, 2);
        __builtin_prefetch(row + kNearBytes);
    }
    transpose_words(inputs.shift + first, i64(lane_items) * 4, items.shift);
}

// Item k of a lane, which is the element at `index` of the input, lifted.
[[gnu::always_inline]] static inline State lift_item(const Inputs&, const Items& items, int k,
                                                     int lane, Index, Index,
                                                     Index)
{
    return lift(items.scale[k][lane], items.shift[k][lane]);
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

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    const Items& items, int k, Index index, Index position,
                                                    Index segment)
{
    append(totals, lane, lift_item(inputs, items, k, lane, index, position, segment));
}

// The total of the items `begin` to `end` - 1 of a segment. Each lane takes consecutive items, and the lanes'
// totals are joined from left to right.
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

// A share folds the segments on its piece of the path one after the other. What it has of a segment that
// began before it, and of one that ends behind it, waits for join_shares.
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
    Index item = begin.item;
    for (Index segment = begin.segment; segment < end.segment; ++segment) {
        const Index first = segment_begin(segments, segment);
        const Index last = segment_end(segments, segment);
        const State total = fold_items(inputs, segments, segment, item, last);
        if (first < item)
            share_heads[share] = total;
        else
            store(results, segment, last - first, total);
        item = last;
    }
    share_tails[share] =
        item < end.item ? fold_items(inputs, segments, end.segment, item, end.item) : identity();
}
