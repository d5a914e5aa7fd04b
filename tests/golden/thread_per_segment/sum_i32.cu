// thread_per_segment: One thread reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// segments_per_thread = 1
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/thread_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int kSegmentsPerThread = 1;
constexpr int block_threads = 256;

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

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
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

// Elements are combined strictly from left to right, so combine() need not be associative, and results equal
// the reference bit for bit if arithmetic does. Neighbouring threads read addresses that are a whole segment
// apart. This is fast for segments of a few elements, and a slow baseline for longer ones. A thread's
// segments are block_threads apart, so that neighbouring threads store to neighbouring places.
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
