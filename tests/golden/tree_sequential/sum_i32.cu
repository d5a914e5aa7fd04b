// tree_sequential: A tree whose threads read neighbouring places
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 1
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/ladder/tree_sequential.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kItemsPerThread = 1;

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

// Thread t takes the elements t, t + kBlockThreads, ... of a tile, so neighbouring threads read neighbours.
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment)
{
    State total = identity();
    if (kItemsPerThread > 1 && end - begin >= kTileItems) {  // a whole tile: many loads at once
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

// In each round, the first half of the remaining states joins the second half, place by place, so the threads
// of a warp read neighbouring places. Joined states are no neighbours, so combine() must commute.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
    for (int stride = kBlockThreads / 2; stride > 0; stride /= 2) {
        if (int(threadIdx.x) < stride)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
