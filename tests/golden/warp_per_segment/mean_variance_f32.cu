// warp_per_segment: One warp reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 4
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
// Emitted by segfold from kernels/stages/warp_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 4;
constexpr int block_threads = 128;
constexpr int kWarpThreads = 32;
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

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
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

// Reduces one state per lane to lane 0, in lane order.
// At every step the left operand covers the lower lanes, so combine() need not commute.
__device__ __forceinline__ State warp_reduce(State state)
{
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
}

// Lane k takes the elements k, k + 32, ... of the segment: neighbouring lanes read neighbouring addresses,
// and kItemsPerThread loads of a lane are under way at once.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const int num_warps = block_threads / kWarpThreads;
    const Index segment = Index(blockIdx.x) * num_warps + threadIdx.x / kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    if (segment >= segments.num_segments)
        return;  // the whole warp leaves together

    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    State total = identity();
    Index position = lane;
    constexpr int kStride = kItemsPerThread * kWarpThreads;
    for (; position + kStride - kWarpThreads < length; position += kStride) {
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index place = position + k * kWarpThreads;
            items[k] = load_item(inputs, first + place, place, segment);
        }
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            total = combine(total, items[k]);
    }
    for (; position < length; position += kWarpThreads)
        total = combine(total, load_item(inputs, first + position, position, segment));
    total = warp_reduce(total);

    if (lane == 0)
        store(results, segment, length, total);
}
