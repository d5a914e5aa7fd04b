// thread_per_segment: One thread reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// segments_per_thread = 1
//
// operator spmv(value: f32, column: i32, x: table f32) -> f32 {
//   state sum: f32 = 0
//   lift value * x[column]
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/thread_per_segment.cu; edit that file instead.

using Index = int;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kMostBlockThreads = 256;
constexpr int kSegmentsPerThread = 1;
constexpr int block_threads = 256;

// A table whose reads are checked: one outside of its length is noted, and gives zero.
struct Table_f32 {
    const float* at;
    i64 length;
    unsigned* outside;        // becomes 1
    mutable bool is_outside;  // of this thread
};

__device__ __forceinline__ float gather(const Table_f32& table, i64 place)
{
    const bool is_inside = u64(place) < u64(table.length);
    table.is_outside |= !is_inside;
    return is_inside ? table.at[place] : 0.0f;
}

struct Inputs {
    const float* value;
    const int* column;
    Table_f32 x;
};

// Tells, when a thread leaves the kernel, which tables it has read outside of their lengths.
struct OutsideReads {
    const Inputs& inputs;

    __device__ __forceinline__ ~OutsideReads()
    {
        if (inputs.x.is_outside)
            atomicOr(inputs.x.outside, 1u);
    }
};

struct Results {
    float* result;
};

using State = float;

__device__ __forceinline__ State identity()
{
    return 0.0f;
}

__device__ __forceinline__ State lift(float value, int column, const Table_f32& x)
{
    return value * gather(x, column);
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.value[index], inputs.column[index], inputs.x);
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return a + b;
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
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
    const OutsideReads outside_reads{inputs};
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
