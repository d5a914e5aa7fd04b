// warp_per_segment: One warp reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// items_per_thread = 4
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/warp_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int kItemsPerThread = 4;
constexpr int block_threads = 256;
constexpr int kWarpThreads = 32;
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

// Reduces one state per lane to lane 0, in lane order. At every step the left operand covers the lower lanes,
// so combine() need not commute.
__device__ __forceinline__ State warp_reduce(State state)
{
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
}

// Lane k takes the elements k, k + 32, ... of the segment. Neighbouring lanes read neighbouring addresses,
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
