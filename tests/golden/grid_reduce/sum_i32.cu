// grid_reduce: All blocks reduce one segment in one launch; the last block finishes
// One segment, 32-bit indices.
// block_threads = 256
// items_per_thread = 8
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/grid_reduce.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 256;
constexpr int kMostBlockThreads = 256;
constexpr int kItemsPerThread = 8;
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

// One segment of all items.
struct Segments {
    Index num_items;
    Index num_segments;
};

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

// A block takes every gridDim.x-th tile; thread t of it takes the elements t, t + kBlockThreads, ... of the
// tile.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* ticket)
{
    const Index length = segments.num_items;
    State total = identity();
    constexpr int kTileItems = kBlockThreads * kItemsPerThread;
    const Index stride = Index(gridDim.x) * kTileItems;
    Index tile = Index(blockIdx.x) * kTileItems;
    for (; tile + kTileItems <= length; tile += stride) {
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index index = tile + k * kBlockThreads + threadIdx.x;
            items[k] = load_item(inputs, index, index, 0);
        }
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            total = combine(total, items[k]);
    }
    // The last tile may be a part of one; it is the only one left for its block.
    #pragma unroll 1
    for (Index index = tile + threadIdx.x; index < length; index += kBlockThreads)
        total = combine(total, load_item(inputs, index, index, 0));

    // Two rounds at most: all blocks fold what their threads have, and the last one what the blocks had.
    __shared__ bool last;
    #pragma unroll 1
    for (bool is_last_round = false;; is_last_round = true) {
        total = block_reduce(total);
        if (is_last_round)
            break;
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = total;
            __threadfence();  // the partial is seen before the ticket is
            // Wraps to 0, ready for the next launch.
            last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();  // all threads know whether theirs is the last block
        if (!last)
            return;
        __threadfence();  // the other blocks' partials are read after their tickets

        // Each thread joins a few consecutive ones.
        const int share = (gridDim.x + kBlockThreads - 1) / kBlockThreads;
        total = identity();
        #pragma unroll 1
        for (int k = 0; k < share; ++k) {
            const int block = threadIdx.x * share + k;
            if (block < int(gridDim.x))
                total = combine(total, partials[block]);
        }
    }
    if (threadIdx.x == 0)
        store(results, 0, length, total);
}
