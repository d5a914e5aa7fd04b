// vector_per_segment: All lanes of a vector fold one segment, the cores equal shares of it
// Segments given as offsets, 32-bit indices.
// accumulators = 2
// share_steps = 65536
//
// Softmax of each segment: exponentials that add up to 1,
//     scaled by the greatest value so that nothing overflows.
// operator softmax(x: f32) -> each f32 {
//   state { greatest: f32 = -inf; sum: f32 = 0 }
//   lift {
//     greatest = isnan(x) ? -inf : x;
//     sum = isnan(x) ? nan : 1;
//   }
//   combine(a, b) {
//     let ahead = b.greatest - a.greatest;
//     let scale = exp(min(ahead > 0 ? -ahead : ahead, 0));
//     greatest = max(a.greatest, b.greatest);
//     sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale;
//   }
//   map {
//     let share = 1 / sum;
//     result = exp(x - greatest) * share;
//   }
//   laws commutative
// }
//
// Emitted by segfold from kernels/cpu/vector_per_segment.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kAccumulators = 2;
constexpr int kShareSteps = 65536;
constexpr int kLanes = 16;
constexpr float kInfinity = __builtin_bit_cast(float, 0x7f800000u);
constexpr float kNan = __builtin_bit_cast(float, 0x7fffffffu);

// A NaN operand loses, -0 is less than 0.
[[gnu::always_inline]] static inline float least_f32(float a, float b)
{
    const unsigned both = __builtin_bit_cast(unsigned, a) | __builtin_bit_cast(unsigned, b);
    return a == b ? __builtin_bit_cast(float, both) : b < a || a != a ? b : a;
}

// A NaN operand loses, -0 is less than 0.
[[gnu::always_inline]] static inline float greatest_f32(float a, float b)
{
    const unsigned both = __builtin_bit_cast(unsigned, a) & __builtin_bit_cast(unsigned, b);
    return a == b ? __builtin_bit_cast(float, both) : a < b || a != a ? b : a;
}

struct Inputs {
    const float* x;
};

struct Results {
    float* greatest;
    float* sum;
    float* result;  // of each element
};

struct State {
    float greatest;
    float sum;
};

[[gnu::always_inline]] static inline State identity()
{
    return {-kInfinity, 0.0f};
}

[[gnu::always_inline]] static inline State lift(float x)
{
    return {__builtin_isnan(x) ? -kInfinity : x, __builtin_isnan(x) ? kNan : 1.0f};
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
[[gnu::always_inline]] static inline State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    const float ahead = b.greatest - a.greatest;
    const float scale = __builtin_expf(least_f32(ahead > 0.0f ? -ahead : ahead, 0.0f));
    return {
        greatest_f32(a.greatest, b.greatest),
        ahead > 0.0f ? a.sum * scale + b.sum : a.sum + b.sum * scale,
    };
}

// Writes the total of a segment.
[[gnu::always_inline]] static inline void store(const Results& results, Index segment, Index, State state)
{
    results.greatest[segment] = state.greatest;
    results.sum[segment] = state.sum;
}

// The states of all lanes, field by field.
struct States {
    alignas(64) float greatest[kLanes];
    alignas(64) float sum[kLanes];
};

[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return {states.greatest[lane], states.sum[lane]};
}

[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
    states.greatest[lane] = state.greatest;
    states.sum[lane] = state.sum;
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

// The finished results of a segment.
struct Finished {
    float greatest;
    float sum;
};

[[gnu::always_inline]] static inline Finished finished(const Results& results, Index segment)
{
    return {
        results.greatest[segment],
        results.sum[segment],
    };
}

// What one element gets.
struct Mapped {
    float result;
};

// What an element gets, from the results of its segment.
[[gnu::always_inline]] static inline Mapped map_element(float x, float greatest, float sum)
{
    const float share = 1.0f / sum;
    return {__builtin_expf(x - greatest) * share};
}

// Maps the element at `index` of the input with the results of its segment, and writes its outputs.
[[gnu::always_inline]] static inline void map_item(const Inputs& inputs, const Results& results,
                                                   const Finished& total, Index index, Index,
                                                   Index, Index)
{
    const Mapped mapped = map_element(inputs.x[index], total.greatest, total.sum);
    results.result[index] = mapped.result;
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

// Maps the items `begin` to `end` - 1 of a segment, whose results are stored.
static inline void map_items(const Inputs& inputs, const Results& results, const Segments& segments,
                             Index segment, Index begin, Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Finished total = finished(results, segment);
    const Index start = segment_begin(segments, segment);
    const Index length = segment_end(segments, segment) - start;
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    #pragma omp simd
    for (Index i = 0; i < end - begin; ++i)
        map_item(columns, all, total, first + i, begin - start + i, segment, length);
}

// Short segments are mapped together: the items of a block know their segments, and lanes take any items. As
// many segments must fit the block.
constexpr Index kMapItems = 512;
constexpr Index kFewestSegments = 64;

struct Owners {
    alignas(64) Index at[kMapItems + kLanes];
};

// Writes the segment of each item from `item` on, where `segment` begins, for those up to `end` - 1 that fit
// the block; returns the first that does not. Whole vectors are written, and what is too much of one is
// overwritten by the next.
[[gnu::noinline]] static Index list_owners(Owners& owners, const Segments& segments, Index item,
                                           Index segment, Index end)
{
    const Segments all = segments;
    Index from = 0;
    for (; segment < end && segment_end(all, segment) - item <= kMapItems; ++segment) {
        const Index to = segment_end(all, segment) - item;
        for (; from < to; from += kLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                owners.at[from + lane] = segment;
        }
        from = to;
    }
    return segment;
}

[[gnu::always_inline]] static inline void map_owned(const Inputs& inputs, const Results& results,
                                                    const Segments& segments, Index item, Index segment)
{
    const Index begin = segment_begin(segments, segment);
    map_item(inputs, results, finished(results, segment), item, item - begin, segment,
             segment_end(segments, segment) - begin);
}

[[gnu::noinline]] static void map_block(const Inputs& inputs, const Results& results,
                                        const Segments& segments, const Owners& owners, Index item,
                                        Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Segments places = segments;
    #pragma omp simd
    for (Index k = 0; k < end - item; ++k)
        map_owned(columns, all, places, item + k, owners.at[k]);
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
        if (end - segment >= kFewestSegments &&
            segment_end(segments, segment + kFewestSegments - 1) - first <= kMapItems) {
            Owners owners;
            segment = list_owners(owners, segments, first, segment, end);
            map_block(inputs, results, segments, owners, first, segment_begin(segments, segment));
            continue;
        }
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

// The total of the items `begin` to `end` - 1 of a segment. Each lane takes every kLanes-th item, in several
// totals at once, so that no addition waits for the one before.
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
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
}
