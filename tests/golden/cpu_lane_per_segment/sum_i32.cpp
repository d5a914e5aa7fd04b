// lane_per_segment: One lane of a vector folds one segment
// Segments given as offsets, 32-bit indices.
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
// Emitted by segfold from kernels/cpu/lane_per_segment.cpp; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kShareSteps = 16384;
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

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    Index begin, Index position, Index segment)
{
    append(totals, lane, load_item(inputs, begin + position, position, segment));
}

[[gnu::always_inline]] static inline void store_total(const Results& results, Index segment, Index length,
                                                      const States& totals, int lane)
{
    store(results, segment, length, get(totals, lane));
}

// Each lane folds one of kLanes neighbouring segments strictly from left to right, as the reference does.
// Lanes walk in step, and a lane whose segment is over waits. This is fast for segments of a few elements and
// of similar lengths.
static inline void fold_group(const Inputs& inputs, const Segments& segments, const Results& results,
                              Index first)
{
    Index begin[kLanes];
    Index length[kLanes];
    States totals;
    Index longest = 0;
    #pragma omp simd reduction(max : longest)
    for (int lane = 0; lane < kLanes; ++lane) {
        const Index segment = first + lane;
        begin[lane] = element_of(segments, segment, segment_begin(segments, segment));
        length[lane] = segment_end(segments, segment) - segment_begin(segments, segment);
        longest = length[lane] > longest ? length[lane] : longest;
        clear(totals, lane);
    }
    for (Index position = 0; position < longest; ++position) {
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            if (position < length[lane])
                take_item(totals, lane, inputs, begin[lane], position, first + lane);
    }
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        store_total(results, first + lane, length[lane], totals, lane);
}

// A share folds the segments that end in it.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results)
{
    const Index first = share_begin(segments, share).segment;
    const Index end = share_begin(segments, share + 1).segment;
    Index segment = first;
    for (; end - segment >= kLanes; segment += kLanes)
        fold_group(inputs, segments, results, segment);
    for (; segment < end; ++segment) {
        const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
        const Index begin = element_of(segments, segment, segment_begin(segments, segment));
        State total = identity();
        for (Index position = 0; position < length; ++position)
            total = combine(total, load_item(inputs, begin + position, position, segment));
        store(results, segment, length, total);
    }
}
