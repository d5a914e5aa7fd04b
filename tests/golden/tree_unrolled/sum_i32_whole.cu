// tree_unrolled: All rounds are unrolled
// One segment, 32-bit indices.
// block_threads = 128
// items_per_thread = 2
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/ladder/tree_unrolled.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kItemsPerThread = 2;
constexpr int kWarpThreads = 32;

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

// Of a tile, thread t takes what is at t, t + kBlockThreads, ...: neighbouring threads read neighbours.
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment)
{
    State total = identity();
    if (kItemsPerThread > 1 && end - begin >= kTileItems) {  // all are there: many loads at once
        #pragma unroll 16
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index position = begin + k * kBlockThreads + threadIdx.x;
            total = combine(total, load_item(inputs, first + position, position, segment));
        }
        return total;
    }
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index position = begin + k * kBlockThreads + threadIdx.x;
        if (position < end)
            total = combine(total, load_item(inputs, first + position, position, segment));
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

// The number of threads is known when the text is compiled, so all rounds are unrolled, and those of one warp
// need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are there
    #pragma unroll
    for (int stride = kBlockThreads / 2; stride > kWarpThreads; stride /= 2) {
        if (int(threadIdx.x) < stride)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    if (threadIdx.x < kWarpThreads) {
        #pragma unroll
        for (int stride = kWarpThreads; stride > 0; stride /= 2) {
            const State later = tile[threadIdx.x + stride];
            __syncwarp();  // all lanes have read
            state = combine(tile[threadIdx.x], later);
            tile[threadIdx.x] = state;
            __syncwarp();  // the round is over
        }
    }
    return state;  // not read once more: compilers let all warps do so, while this one writes
}
