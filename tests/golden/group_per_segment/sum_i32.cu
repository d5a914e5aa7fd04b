// group_per_segment: A group of lanes reduces one segment, a vector a lane at a time
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// lanes_per_segment = 8
// segments_per_group = 2
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/group_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 128;
constexpr int kSegmentsPerGroup = 2;
constexpr int block_threads = 128;
constexpr int lanes_per_segment = 8;
constexpr unsigned kFullMask = 0xffffffffu;

struct Inputs {
    const int* x;
};

struct Results {
    int* result;
};

using State = int;

__device__ __forceinline__ State identity()
{
    return 0;
}

__device__ __forceinline__ State lift(int x)
{
    return x;
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return int(unsigned(a) + unsigned(b));
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    return __shfl_down_sync(kFullMask, state, delta);
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1] - segments.offsets[segment];
}

// Returns the segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

constexpr int kStepItems = 8;

struct alignas(16) Chunk_x {
    int at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[2];
};

// Loads `count` items from the element at `index` on; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
    if (count >= kStepItems && (unsigned long long)(inputs.x + index) % alignof(Chunk_x) == 0) {
        items.x[0] = *(const Chunk_x*)(inputs.x + index);
        items.x[1] = *(const Chunk_x*)(inputs.x + index + 4);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[k / 4].at[k % 4]);
}

// A segment that a group is folding, with the lane's total so far.
struct Part {
    Index first;  // where the segment's first vector begins, at or before `begin`
    Index begin;
    Index end;
    State total;
};

// Returns a bit for each item of the vector at `index`: 1 if the item belongs to the segment.
__device__ __forceinline__ unsigned items_inside(const Part& part, Index index)
{
    const int low = int(max(part.begin - index, Index(0)));
    const int high = int(max(min(part.end - index, Index(kStepItems)), Index(0)));
    return low < high ? (1u << high) - (1u << low) : 0u;
}

// Loads the vector at `index`. `inside` has a 1 for each item that will be folded. If it has none, the
// segment's first vector is loaded instead, so that lanes behind the segment's end take the same path as the
// others.
__device__ __forceinline__ Items load_part(const Inputs& inputs,
                                           const Segments& segments,
                                           const Part& part,
                                           Index index,
                                           unsigned inside)
{
    const Index from = inside != 0 ? index : part.first;
    return load_items(inputs, from, int(min(segments.num_items - from, Index(kStepItems))));
}

// Appends to `run` the items of a vector whose bits in `inside` are 1.
__device__ __forceinline__ State fold_inside(const Inputs& inputs,
                                             const Items& items,
                                             Index index,
                                             unsigned inside,
                                             State run)
{
    #pragma unroll
    for (int i = 0; i < kStepItems; ++i)
        if (inside >> i & 1)
            run = combine(run, lift_item(inputs, items, i, index + i));
    return run;
}

// A group folds its segment row by row. In a row, each lane takes kStepItems consecutive elements. Rows begin
// at multiples of kStepItems, so that lanes read vectors wherever the segment begins. Neighbouring groups
// take neighbouring segments, so a warp's reads lie side by side. A group has several segments under way.
// Each lane keeps its own total over all rows, and the lanes of a group are joined at the end.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const int row_items = lanes_per_segment * kStepItems;
    const int lane_bits = 31 - __clz(lanes_per_segment);  // compilers fold this for a constant, but not __ffs
    const int num_groups = block_threads >> lane_bits;
    const int group = threadIdx.x >> lane_bits;
    const int lane = threadIdx.x & (lanes_per_segment - 1);
    const Index first = Index(blockIdx.x) * num_groups * kSegmentsPerGroup + group;
    Part parts[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups behind the last segment fold it again and store nothing.
        const Index segment = min(first + k * num_groups, segments.num_segments - 1);
        const Index begin = segment_first(segments, segment);
        const Index end = begin + segment_length(segments, segment);
        parts[k] = {begin - begin % kStepItems, begin, end, identity()};
        longest = max(longest, end - parts[k].first);
    }
    for (Index row = 0; row < longest; row += row_items) {
        Items items[kSegmentsPerGroup];
        unsigned inside[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            const Index index = parts[k].first + row + lane * kStepItems;
            inside[k] = items_inside(parts[k], index);
            items[k] = load_part(inputs, segments, parts[k], index, inside[k]);
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            const Index index = parts[k].first + row + lane * kStepItems;
            parts[k].total = fold_inside(inputs, items[k], index, inside[k], parts[k].total);
        }
    }
    #pragma unroll
    for (int delta = 1; delta < lanes_per_segment; delta *= 2) {
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k)
            parts[k].total = combine(parts[k].total, shuffle_down(parts[k].total, delta));
    }
    if (lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if (first + k * num_groups < segments.num_segments)
            store(results, first + k * num_groups, parts[k].end - parts[k].begin, parts[k].total);
}
