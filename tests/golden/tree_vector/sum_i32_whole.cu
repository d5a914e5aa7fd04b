// tree_vector: Threads read vectors of up to 16 bytes
// One segment, 32-bit indices.
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

// One segment of all items.
struct Segments {
    Index num_items;
    Index num_segments;
};

// One block's total is what the next level folds, by a launch of its own, until one is left. Seven levels of
// blocks of 64 hold 2^42 elements.

// What makes a rung of the ladder. fold_block() folds one state of each thread of a block to thread 0; all
// threads call it, what the others get means nothing, and who calls it again puts a barrier between.
// fold_elements() and fold_partials() fold what one thread takes of the tile of kTileItems that begins at
// `begin`, up to `end`.
constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
__device__ __forceinline__ State fold_block(State state);
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment);

__device__ __forceinline__ State fold_partials(const State* partials, Index begin, Index end);

__device__ __forceinline__ void leave_total(const Segments& segments, const Results& results, State* partials,
                                            State total)
{
    if (threadIdx.x != 0)
        return;
    if (gridDim.x == 1)
        store(results, 0, segments.num_items, total);
    else
        partials[blockIdx.x] = total;
}

// A block takes one tile of the input.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials)
{
    const Index begin = Index(blockIdx.x) * kTileItems;
    const State total = fold_block(fold_elements(inputs, 0, begin, segments.num_items, 0));
    leave_total(segments, results, partials, total);
}

// A block takes one tile of a level's partials. Levels lie one behind the other, each shorter than the one
// before, so the number of blocks tells which one this launch folds.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce_partials(Segments segments,
                Results results,
                State* partials)
{
    Index size = (segments.num_items + kTileItems - 1) / kTileItems;
    #pragma unroll 1
    while ((size + kTileItems - 1) / kTileItems != Index(gridDim.x)) {
        partials += size;
        size = (size + kTileItems - 1) / kTileItems;
    }
    const State total = fold_block(fold_partials(partials, Index(blockIdx.x) * kTileItems, size));
    leave_total(segments, results, partials + size, total);
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    int at[4];
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

// Of a tile, a thread takes vectors of kStepItems elements, all of them under way at once: one access moves
// up to 16 bytes a thread.
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

__device__ __forceinline__ State fold_partials(const State* partials, Index begin, Index end)
{
    State total = identity();
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index place = begin + k * kBlockThreads + threadIdx.x;
        if (place < end)
            total = combine(total, partials[place]);
    }
    return total;
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

// Reduces one state per thread to thread 0, in thread order. Who calls it again puts a barrier between.
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
    __syncthreads();  // the partials of all warps are there
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
