// tree_shuffle: Warps fold by shuffles, shared memory holds one state a warp
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 8
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
// Emitted by segfold from kernels/ladder/tree_shuffle.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 8;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;
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

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.n = __shfl_down_sync(kFullMask, state.n, delta);
    state.mean = __shfl_down_sync(kFullMask, state.mean, delta);
    state.m2 = __shfl_down_sync(kFullMask, state.m2, delta);
    return state;
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
