// thread_per_segment: One thread reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// segments_per_thread = 1
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
// Emitted by segfold from kernels/stages/thread_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int kSegmentsPerThread = 1;
constexpr int block_threads = 256;
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

// Elements are combined strictly from left to right, so not even associativity is needed, and the result is
// the reference's bit for bit wherever arithmetic is. Neighbouring threads read addresses a whole segment
// apart: good for segments of a few elements, the slow baseline for longer ones. A thread's segments are
// a block's threads apart, so that neighbouring threads store side by side.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const Index begin = Index(blockIdx.x) * block_threads * kSegmentsPerThread + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < kSegmentsPerThread; ++k) {
        const Index segment = begin + k * block_threads;
        if (segment >= segments.num_segments)
            return;
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = identity();
        for (Index position = 0; position < length; ++position)
            total = combine(total, load_item(inputs, first + position, position, segment));
        store(results, segment, length, total);
    }
}
