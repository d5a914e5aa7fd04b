// pairs_cascade: Threads join many consecutive elements before the tree begins
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 8
//
// Composition of the maps v -> scale * v + shift, earlier ones first; not commutative.
// operator affine(scale: u32, shift: u32) -> (scale: u32, shift: u32) {
//   state { scale: u32 = 1; shift: u32 = 0 }
//   lift {
//     scale = scale;
//     shift = shift;
//   }
//   combine(a, b) {
//     scale = a.scale * b.scale;
//     shift = a.shift * b.scale + b.shift;
//   }
// }
//
// Emitted by segfold from kernels/ladder/pairs_cascade.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kItemsPerThread = 8;
constexpr int kWarpThreads = 32;

struct Inputs {
    const unsigned* scale;
    const unsigned* shift;
};

struct Results {
    unsigned* scale;
    unsigned* shift;
};

struct State {
    unsigned scale;
    unsigned shift;
};

__device__ __forceinline__ State identity()
{
    return {1, 0};
}

__device__ __forceinline__ State lift(unsigned scale, unsigned shift)
{
    return {scale, shift};
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.scale[index], inputs.shift[index]);
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.scale[segment] = state.scale;
    results.shift[segment] = state.shift;
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

// What makes a rung of the ladder. fold_block() folds one state of each thread of a block to thread 0; all
// threads call it, what the others get means nothing, and who calls it again puts a barrier between.
// fold_elements() and fold_partials() fold what one thread takes of the tile of kTileItems that begins at
// `begin`, up to `end`.
constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
__device__ __forceinline__ State fold_block(State state);
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment);

// A block takes one segment, tile by tile, or every gridDim.x-th where there are more than blocks.
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
            __syncthreads();  // the block is done with the tile, the next one may take its place
        }
        if (threadIdx.x == 0)
            store(results, segment, length, total);
    }
}

// Of a tile, thread t takes kItemsPerThread consecutive ones, so that combine() need not commute.
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment)
{
    State total = identity();
    for (int k = 0; k < kItemsPerThread; ++k) {
        const Index position = begin + Index(threadIdx.x) * kItemsPerThread + k;
        if (position < end)
            total = combine(total, load_item(inputs, first + position, position, segment));
    }
    return total;
}

// The tree of neighbours with all rounds unrolled; those of one warp need no barrier of the block.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are there
    #pragma unroll
    for (int pairs = kBlockThreads / 2; pairs > kWarpThreads; pairs /= 2) {
        const bool takes_part = int(threadIdx.x) < pairs;
        if (takes_part)
            state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
        __syncthreads();  // all have read
        if (takes_part)
            tile[threadIdx.x] = state;
        __syncthreads();  // the round is over
    }
    if (threadIdx.x < kWarpThreads) {
        #pragma unroll
        for (int pairs = kWarpThreads; pairs > 0; pairs /= 2) {
            const bool takes_part = int(threadIdx.x) < pairs;
            if (takes_part)
                state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
            __syncwarp();  // all lanes have read
            if (takes_part)
                tile[threadIdx.x] = state;
            __syncwarp();  // the round is over
        }
    }
    return state;  // not read once more: compilers let all warps do so, while this one writes
}
