// tree_vector: Threads read vectors of up to 16 bytes
// Segments given as offsets, 32-bit indices.
// block_threads = 128
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
// Emitted by segfold from kernels/ladder/tree_vector.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 16;
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

// A rung of the ladder defines the functions below. fold_block() folds one state of each thread of a block to
// thread 0. All threads call it; the values of other threads mean nothing, and two calls need a barrier
// between them. fold_elements() and fold_partials() fold the elements that one thread takes of the tile of
// kTileItems that begins at `begin`, up to `end`.
constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
__device__ __forceinline__ State fold_block(State state);
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment);

// A block takes one segment, tile by tile. With more segments than blocks, it goes on with every gridDim.x-th
// segment.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    for (Index segment = blockIdx.x; segment < segments.num_segments; segment += gridDim.x) {
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = identity();
        for (Index begin = 0; begin < length; begin += kTileItems) {
            const State tile = fold_block(fold_elements(inputs, first, begin, length, segment));
            if (threadIdx.x == 0)
                total = combine(total, tile);
            __syncthreads();  // the block is done with the tile, so the next one may take its place
        }
        if (threadIdx.x == 0)
            store(results, segment, length, total);
    }
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    int at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// Loads `count` items from the element at `index` on; the others become zero.
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

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// A thread loads all its vectors of a tile at once, each of kStepItems elements. One access moves up to 16
// bytes for each thread.
// Thread t takes the vectors t, t + kBlockThreads, ...
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index)
{
    constexpr int kVectors = kItemsPerThread / kStepItems;
    Items items[kVectors];
    Index positions[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k) {
        const int vector = k * kBlockThreads + threadIdx.x;
        positions[k] = begin + vector * kStepItems;
        items[k] = load_items(inputs, first + positions[k], int(min(end - positions[k], Index(kStepItems))));
    }
    State total = identity();
    #pragma unroll
    for (int k = 0; k < kVectors * kStepItems; ++k) {
        const int item = k % kStepItems;
        const Index position = positions[k / kStepItems] + item;
        if (position < end)
            total = combine(total, lift_item(inputs, items[k / kStepItems], item, first + position));
    }
    return total;
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

// Lanes exchange registers, in order, so combine() need not commute.
__device__ __forceinline__ State fold_block(State state)
{
    return block_reduce(state);
}
