// group_per_segment: A group of lanes reduces one segment, four elements a lane at a time
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// lanes_per_segment = 16
// segments_per_group = 1
//
// Mean and population variance, merged pairwise (Chan, Golub, LeVeque 1983; after Welford 1962).
// operator mean_variance(x: f32) -> (mean: f32, variance: f32) {
//   state { n: i32 = 0; mean: f32 = 0; m2: f32 = 0 }
//   lift {
//     n = 1;
//     mean = x;
//     m2 = 0;
//   }
//   combine(a, b) {
//     let total = a.n + b.n;
//     let delta = b.mean - a.mean;
//     let share = f32(b.n) / f32(total);
//     n = total;
//     mean = a.n == 0 ? b.mean : b.n == 0 ? a.mean : a.mean + delta * share;
//     m2 = a.n == 0 ? b.m2 : b.n == 0 ? a.m2 : a.m2 + b.m2 + delta * delta * f32(a.n) * share;
//   }
//   finish {
//     mean = mean;
//     variance = m2 / f32(n);
//   }
//   empty {
//     mean = nan;
//     variance = nan;
//   }
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/group_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 128;
constexpr int kSegmentsPerGroup = 1;
constexpr int block_threads = 128;
constexpr int lanes_per_segment = 16;
constexpr unsigned kFullMask = 0xffffffffu;
constexpr float kNan = __builtin_bit_cast(float, 0x7fffffffu);

struct Inputs {
    const float* x;
};

struct Results {
    float* mean;
    float* variance;
};

struct State {
    int n;
    float mean;
    float m2;
};

__device__ __forceinline__ State identity()
{
    return {0, 0.0f, 0.0f};
}

__device__ __forceinline__ State lift(float x)
{
    return {1, x, 0.0f};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    const int total = int(unsigned(a.n) + unsigned(b.n));
    const float delta = b.mean - a.mean;
    const float share = float(b.n) / float(total);
    return {
        total,
        a.n == 0 ? b.mean : b.n == 0 ? a.mean : a.mean + delta * share,
        a.n == 0 ? b.m2 : b.n == 0 ? a.m2 : a.m2 + b.m2 + delta * delta * float(a.n) * share,
    };
}

// Finishes the total of a segment and writes its results.
__device__ __forceinline__ void store(const Results& results, Index segment, Index length, State state)
{
    if (length == 0) {
        results.mean[segment] = kNan;
        results.variance[segment] = kNan;
        return;
    }
    results.mean[segment] = state.mean;
    results.variance[segment] = state.m2 / float(state.n);
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.n = __shfl_down_sync(kFullMask, state.n, delta);
    state.mean = __shfl_down_sync(kFullMask, state.mean, delta);
    state.m2 = __shfl_down_sync(kFullMask, state.m2, delta);
    return state;
}

// Segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1] - segments.offsets[segment];
}

// The segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    float at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// The items from the element at `index` on, of which `count` are there; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
    if (count >= kStepItems && (unsigned long long)(inputs.x + index) % alignof(Chunk_x) == 0) {
        items.x[0] = *(const Chunk_x*)(inputs.x + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// Item k of a step, which is the element at `index` of the input, lifted.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// A group takes one row of its segment at a time, a lane kStepItems consecutive elements of it, and joins the
// lanes in order. Where a segment begins at a multiple of kStepItems, lanes read vectors; neighbouring groups
// read neighbouring segments: a warp's reads lie side by side. A group has several segments under way.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const int row_items = lanes_per_segment * kStepItems;
    const int lane_bits = 31 - __clz(lanes_per_segment);  // the compiler folds it; not so __ffs
    const int num_groups = block_threads >> lane_bits;
    const int group = threadIdx.x >> lane_bits;
    const int lane = threadIdx.x & (lanes_per_segment - 1);
    const Index first = Index(blockIdx.x) * num_groups * kSegmentsPerGroup + group;
    State totals[kSegmentsPerGroup];
    Index begins[kSegmentsPerGroup];
    Index lengths[kSegmentsPerGroup];
    Index longest = 0;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k) {
        // Groups beyond the last segment fold it as well, and store nothing.
        const Index segment = min(first + k * num_groups, segments.num_segments - 1);
        totals[k] = identity();
        begins[k] = segment_first(segments, segment);
        lengths[k] = segment_length(segments, segment);
        longest = max(longest, lengths[k]);
    }
    // The lanes of a warp go on until the longest of its segments ends, because all meet in the shuffles.
    for (Index row = 0; __any_sync(kFullMask, row < longest); row += row_items) {
        const Index position = row + lane * kStepItems;
        Items items[kSegmentsPerGroup];
        int counts[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            counts[k] = int(max(min(lengths[k] - position, Index(kStepItems)), Index(0)));
            // Far behind the end of a short segment there may be no Index.
            items[k] = load_items(inputs, counts[k] > 0 ? begins[k] + position : 0, counts[k]);
        }
        State parts[kSegmentsPerGroup];
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k) {
            parts[k] = identity();
            #pragma unroll
            for (int i = 0; i < kStepItems; ++i)
                if (i < counts[k])
                    parts[k] = combine(parts[k], lift_item(inputs, items[k], i, begins[k] + position + i));
        }
        // The rounds of all segments together: where the launch says the lanes, the loop is not unrolled, and
        // rounds of one segment after another would wait for each other.
        #pragma unroll
        for (int delta = 1; delta < lanes_per_segment; delta *= 2) {
            #pragma unroll
            for (int k = 0; k < kSegmentsPerGroup; ++k)
                parts[k] = combine(parts[k], shuffle_down(parts[k], delta));
        }
        #pragma unroll
        for (int k = 0; k < kSegmentsPerGroup; ++k)
            totals[k] = combine(totals[k], parts[k]);  // meaningful in lane 0 only
    }
    if (lane != 0)
        return;
    #pragma unroll
    for (int k = 0; k < kSegmentsPerGroup; ++k)
        if (first + k * num_groups < segments.num_segments)
            store(results, first + k * num_groups, lengths[k], totals[k]);
}
