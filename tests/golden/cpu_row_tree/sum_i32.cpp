// row_tree: Rows of 16 items, 16 rows joined in one tree, 16 segments side by side
// Segments given as offsets, 32-bit indices.
// accumulators = 8
// share_steps = 262144
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/cpu/row_tree.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kAccumulators = 8;
constexpr int kShareSteps = 262144;
constexpr int kTotals = 272;
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

// Sorts words into the neighbours that a tree joins at a level: lanes of `a` and of `b`. Sixteen vectors
// become one in four levels; lane k then has the total of vector k.
[[gnu::always_inline]] static inline void part_words(void* earlier, void* later, const void* a, const void* b,
                                                     int level)
{
    const Words x = *(const Words*)a;
    const Words y = *(const Words*)b;
    if (level == 0) {
        *(Words*)earlier =
            __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
        *(Words*)later =
            __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
        return;
    }
    *(Words*)earlier = level == 1 ? low_pairs(x, y) : even_quads(x, y);
    *(Words*)later = level == 1 ? high_pairs(x, y) : odd_quads(x, y);
}

alignas(64) static const unsigned kMaskWords[64] = {
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

[[gnu::always_inline]] static inline void keep_words(void* words, const void* others, int count)
{
    const Words mask = *(const Words*)(kMaskWords + 32 - count);
    *(Words*)words = (*(const Words*)words & mask) | (*(const Words*)others & ~mask);
}

[[gnu::always_inline]] static inline void part_lanes(States& earlier, States& later, const States& a,
                                                     const States& b, int level)
{
    part_words(earlier.sum, later.sum, a.sum, b.sum, level);
}

// Lanes from `count` on get the state of `neutral`. Bits are masked instead of chosen: compilers turn a
// choice into loads under a mask, which are slow on some processors.
[[gnu::always_inline]] static inline void clip(States& states, const States& neutral, int count)
{
    keep_words(states.sum, neutral.sum, count);
}

// Many states, field by field.
struct Totals {
    alignas(64) int sum[kTotals];
};

[[gnu::always_inline]] static inline void keep_totals(Totals& totals, Index first, const States& states)
{
    __builtin_memcpy(totals.sum + first, states.sum, sizeof states.sum);
}

[[gnu::always_inline]] static inline void take_totals(States& states, const Totals& totals, Index first)
{
    __builtin_memcpy(states.sum, totals.sum + first, sizeof states.sum);
}

// kColumns consecutive items of each lane: item k of lane l stands at [k][l].
struct Items {
    alignas(64) int x[kColumns][kLanes];
};

// Takes the kLanes items from element `first` on: item `first + l` becomes item 0 of lane l. Prefetches the
// elements kPrefetchBytes ahead into the second-level cache.
[[gnu::always_inline]] static inline void take_row(Items& items, const Inputs& inputs, Index first)
{
    __builtin_prefetch((const char*)(inputs.x + first) + kPrefetchBytes, 0, 2);
    __builtin_memcpy(items.x[0], inputs.x + first, sizeof items.x[0]);
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

// A row consists of kLanes consecutive items of a segment; the last row may have fewer. Segments of up to
// kLanes rows are folded by trees. A longer segment is folded alone.
constexpr Index kMostLength = kLanes * kLanes;

// Rows of a group of segments, one behind the other. There is room for one more vector of rows.
struct Rows {
    alignas(64) Index begin[kMostLength + kLanes];
    alignas(64) Index length[kMostLength + kLanes];
};

// Segments whose extents are looked up at once, long before they are used: a processor does not forward parts
// of a vector that it has just stored.
constexpr int kBlockSegments = 16 * kLanes;

struct Extents {
    alignas(64) Index begin[kBlockSegments];
    alignas(64) Index length[kBlockSegments];
};

[[gnu::always_inline]] static inline void lift_lane(States& row, int lane, const Inputs& inputs,
                                                    const Items& items, Index begin)
{
    put(row, lane, lift_item(inputs, items, 0, lane, begin + lane, 0, 0));
}

[[gnu::always_inline]] static inline void join_lane(States& joined, int lane, const States& earlier,
                                                    const States& later)
{
    put(joined, lane, combine(get(earlier, lane), get(later, lane)));
}

[[gnu::always_inline]] static inline void join_vectors(States& joined, const States& earlier,
                                                       const States& later)
{
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        join_lane(joined, lane, earlier, later);
}

[[gnu::always_inline]] static inline void clip_row(States& row, Index length)
{
    States neutral;
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        clear(neutral, lane);
    clip(row, neutral, length);
}

// Joins neighbouring lanes of each row until one state is left. Lane k of `totals` gets the total of row k.
[[gnu::always_inline]] static inline void join_rows(States& totals, States* rows)
{
    #pragma GCC unroll 4
    for (int level = 0; level < 4; ++level) {
        #pragma GCC unroll 8
        for (int k = 0; k < kLanes >> (level + 1); ++k) {
            States earlier, later;
            part_lanes(earlier, later, rows[2 * k], rows[2 * k + 1], level);
            join_vectors(level == 3 ? totals : rows[k], earlier, later);
        }
    }
}

// Folds kLanes rows; lane k of `totals` gets the total of row k. This function is not inlined, because a
// compiler that sees how `begin` was computed takes its numbers out of vectors one by one.
[[gnu::noinline]] static void fold_rows(States& totals, const Inputs& inputs, const Index* begin,
                                        const Index* length)
{
    States rows[kLanes];
    #pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) {
        Items items;
        take_row(items, inputs, begin[k]);
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            lift_lane(rows[k], lane, inputs, items, begin[k]);
        clip_row(rows[k], length[k]);
    }
    join_rows(totals, rows);
}

// Joins the totals of each segment's rows. Segment k has counts[k] rows, from row begins[k] on.
[[gnu::noinline]] static void join_segments(States& totals, const Totals& row_totals, const Index* begins,
                                            const Index* counts)
{
    States rows[kLanes];
    #pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) {
        take_totals(rows[k], row_totals, begins[k]);
        clip_row(rows[k], counts[k]);
    }
    join_rows(totals, rows);
}

// Writes the rows of kLanes segments one behind the other and returns the number of rows. Whole vectors are
// written, and the next segment overwrites what is too much.
[[gnu::noinline]] static Index list_rows(Rows& rows, Index* begins, Index* counts, const Index* begin,
                                         const Index* length)
{
    #pragma omp simd
    for (int k = 0; k < kLanes; ++k)
        counts[k] = unsigned(length[k] + kLanes - 1) / kLanes;
    Index num_rows = 0;
    #pragma GCC unroll 1
    for (int k = 0; k < kLanes; ++k) {
        begins[k] = num_rows;
        #pragma omp simd
        for (int row = 0; row < kLanes; ++row) {
            const Index left = length[k] - row * kLanes;
            rows.begin[num_rows + row] = begin[k] + row * kLanes;
            rows.length[num_rows + row] = left < kLanes ? left : kLanes;
        }
        num_rows += counts[k];
    }
    #pragma omp simd
    for (int row = 0; row < kLanes; ++row) {
        rows.begin[num_rows + row] = begin[0];
        rows.length[num_rows + row] = 0;
    }
    return num_rows;
}

// Lists row `round` of each of kLanes segments. A segment that has no such row gets a row of length 0.
static inline void list_round(Rows& rows, Index round, const Index* begin, const Index* length)
{
    #pragma omp simd
    for (int k = 0; k < kLanes; ++k) {
        const Index left = length[k] - round * kLanes;
        const Index full = left < kLanes ? left : kLanes;
        rows.begin[k] = left > 0 ? begin[k] + round * kLanes : begin[k];
        rows.length[k] = full > 0 ? full : 0;
    }
}

[[gnu::always_inline]] static inline void store_lane(const Results& results, Index segment, Index length,
                                                     const States& totals, int lane)
{
    store(results, segment, length, get(totals, lane));
}

// Folds kLanes segments to `totals`. None of them is longer than kMostLength.
static inline void fold_short(States& totals, const Inputs& inputs, const Index* begin, const Index* length,
                              Index longest)
{
    if (longest <= kLanes) {
        fold_rows(totals, inputs, begin, length);
        return;
    }
    Rows rows;
    if (longest <= 2 * kLanes) {
        States first, second;
        list_round(rows, 0, begin, length);
        fold_rows(first, inputs, rows.begin, rows.length);
        list_round(rows, 1, begin, length);
        fold_rows(second, inputs, rows.begin, rows.length);
        join_vectors(totals, first, second);
        return;
    }
    alignas(64) Index begins[kLanes];
    alignas(64) Index counts[kLanes];
    const Index num_rows = list_rows(rows, begins, counts, begin, length);
    Totals row_totals;
    for (Index done = 0; done < num_rows; done += kLanes) {
        States part;
        fold_rows(part, inputs, rows.begin + done, rows.length + done);
        keep_totals(row_totals, done, part);
    }
    join_segments(totals, row_totals, begins, counts);
}

// Folds kLanes segments from `first` on and stores their results.
static inline void fold_group(const Inputs& inputs, const Segments& segments, const Results& results,
                              Index first, const Index* begin, const Index* length)
{
    Index longest = 0;
    #pragma omp simd reduction(max : longest)
    for (int k = 0; k < kLanes; ++k)
        longest = length[k] > longest ? length[k] : longest;
    States totals;
    if (longest <= kMostLength)
        fold_short(totals, inputs, begin, length, longest);
    else {
        alignas(64) Index short_length[kLanes];
        Index longest_short = 0;
        for (int k = 0; k < kLanes; ++k) {
            short_length[k] = length[k] > kMostLength ? 0 : length[k];
            longest_short = short_length[k] > longest_short ? short_length[k] : longest_short;
        }
        fold_short(totals, inputs, begin, short_length, longest_short);
        for (int k = 0; k < kLanes; ++k)
            if (length[k] > kMostLength)
                put(totals, k, fold_items(inputs, segments, first + k, begin[k], begin[k] + length[k]));
    }
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        store_lane(results, first + lane, length[lane], totals, lane);
}

[[gnu::noinline]] static void find_extents(Extents& extents, const Segments& segments, Index first, int count)
{
    const Segments all = segments;
    #pragma omp simd
    for (int k = 0; k < count; ++k) {
        const Index begin = segment_begin(all, first + k);
        extents.begin[k] = begin;
        extents.length[k] = segment_end(all, first + k) - begin;
    }
}

// A share folds the segments between its two cuts. Its part of a segment that began before the share, and its
// part of one that goes on behind the share, wait for join_shares.
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
    Index segment = begin.segment;
    if (segment < end.segment && segment_begin(segments, segment) < item) {
        const Index last = segment_end(segments, segment);
        share_heads[share] = fold_items(inputs, segments, segment, item, last);
        item = last;
        ++segment;
    }
    // Rows are read whole, so groups must end at least kLanes items before the end of the input. Other
    // segments are folded one by one.
    Extents extents;
    while (end.segment - segment >= kLanes) {
        const Index left = (end.segment - segment) / kLanes * kLanes;
        const int count = left < kBlockSegments ? left : kBlockSegments;
        if (segments.num_items - segment_begin(segments, segment + count) < kLanes)
            break;
        find_extents(extents, segments, segment, count);
        for (int done = 0; done < count; done += kLanes)
            fold_group(inputs, segments, results, segment + done, extents.begin + done,
                       extents.length + done);
        segment += count;
        item = segment_begin(segments, segment);
    }
    for (; segment < end.segment; ++segment) {
        const Index last = segment_end(segments, segment);
        store(results, segment, last - item, fold_items(inputs, segments, segment, item, last));
        item = last;
    }
    share_tails[share] =
        item < end.item ? fold_items(inputs, segments, end.segment, item, end.item) : identity();
}
