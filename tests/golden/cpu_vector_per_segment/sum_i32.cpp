// vector_per_segment: All lanes of a vector fold one segment, the cores equal shares of it
// Segments given as offsets, 32-bit indices.
// accumulators = 2
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
// Emitted by segfold from kernels/cpu/vector_per_segment.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kAccumulators = 2;
constexpr int kShareSteps = 65536;
constexpr int kLanes = 16;

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

// A share folds the segments between its two cuts, one after the other. Its part of a segment that began
// before the share, and its part of one that goes on behind the share, wait for join_shares.
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
