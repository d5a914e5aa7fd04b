// block_per_segment: One block reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 64
// items_per_thread = 16
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/block_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 64;
constexpr int kItemsPerThread = 16;
constexpr int block_threads = 64;
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

// Reduces one state per thread to thread 0, in thread order. Two calls need a barrier between them.
__device__ __forceinline__ State block_reduce(State state)
{
    constexpr int kWarps = kMostBlockThreads / kWarpThreads;
    constexpr int num_warps = kWarps;
    __shared__ State partials[kWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;

    state = warp_reduce(state);
    if (lane == 0)
        partials[warp] = state;
    __syncthreads();  // all warps have written their partials
    if (warp == 0) {
        state = lane < num_warps ? partials[lane] : identity();
        #pragma unroll
        for (int delta = 1; delta < kWarps; delta *= 2)
            state = combine(state, shuffle_down(state, delta));
    }
    return state;
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    int at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// True if load_vectors() may be called.
__device__ __forceinline__ bool is_aligned(const Inputs& inputs)
{
    return (unsigned long long)inputs.x % alignof(Chunk_x) == 0;
}

// Loads the kStepItems items from the element at `index` on. `index` must be a multiple of kStepItems, and
// all items must exist.
__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)
{
    Items items;
    items.x[0] = *(const Chunk_x*)(inputs.x + index);
    return items;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// Folds the elements of a segment that thread `thread` of `num_threads` takes. combine() must commute.
// Thread t takes the vectors t, t + num_threads, ... of the segment, kItemsPerThread elements at once, but at
// least one vector.
__device__ __forceinline__ State fold_strided(const Inputs& inputs, Index first, Index length, Index segment,
                                              int thread, int num_threads)
{
    State total = identity();
    // Takes the elements before the first whole vector.
    const Index before = min(length, -first & Index(kStepItems - 1));
    if (thread < before)
        total = load_item(inputs, first + thread, thread, segment);
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int stride = kStepItems * num_threads;
    const bool aligned = is_aligned(inputs);
    Index position = before + thread * kStepItems;
    // While enough vectors are left, a thread loads kVectors of them at once.
    for (; aligned && position + (kVectors - 1) * stride + kStepItems <= length;
         position += kVectors * stride) {
        Items items[kVectors];
        #pragma unroll
        for (int k = 0; k < kVectors; ++k)
            items[k] = load_vectors(inputs, first + position + k * stride);
        #pragma unroll
        for (int k = 0; k < kVectors * kStepItems; ++k) {
            const Index index = first + position + k / kStepItems * stride + k % kStepItems;
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index));
        }
    }
    // Takes the remaining vectors one at a time.
    #pragma unroll 1
    for (; aligned && position + kStepItems <= length; position += stride) {
        const Items items = load_vectors(inputs, first + position);
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            total = combine(total, lift_item(inputs, items, k, first + position + k));
    }
    // At most one thread finds less than a vector. If arrays are not aligned, all elements are read here, in
    // the same order.
    #pragma unroll 1
    for (; position < length; position += stride) {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (position + k < length)
                total = combine(total, load_item(inputs, first + position + k, position + k, segment));
    }
    return total;
}

// A block takes one segment. If there are more segments than blocks, it goes on with every gridDim.x-th
// segment.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    for (Index segment = blockIdx.x; segment < segments.num_segments; segment += gridDim.x) {
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = fold_strided(inputs, first, length, segment, threadIdx.x, block_threads);

        total = block_reduce(total);
        if (threadIdx.x == 0)
            store(results, segment, length, total);
        if (segment + gridDim.x < segments.num_segments)
            __syncthreads();  // the warps' totals have been read, so the next segment may write them
    }
}
