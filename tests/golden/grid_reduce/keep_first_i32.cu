// grid_reduce: All blocks reduce one segment in one launch; the last block finishes
// One segment, 32-bit indices.
// block_threads = 256
// items_per_thread = 8
//
// First value of the segment; a semigroup: an empty segment has none.
// operator keep_first(x: i32) -> i32 {
//   state first: i32
//   lift x
//   combine(a, b) a
//   laws idempotent
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

struct State {
    int first;
    bool present;  // false: no element yet, which serves as the identity
};

__device__ __forceinline__ State identity()
{
    return {};
}

__device__ __forceinline__ State lift(int x)
{
    return {x, true};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    if (!a.present)
        return b;
    if (!b.present)
        return a;
    return {a.first, true};
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state.first;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.first = __shfl_down_sync(kFullMask, state.first, delta);
    state.present = bool(__shfl_down_sync(kFullMask, int(state.present), delta));
    return state;
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

// Folds the elements from `index` on in their order: those of a lane that takes kItemsPerThread consecutive
// ones of which `count` are there. `position` is the first one's place in `segment`.
__device__ __forceinline__ State fold_consecutive(const Inputs& inputs,
                                                  Index index,
                                                  Index position,
                                                  Index segment,
                                                  Index count)
{
    State total = identity();
    // Vectors where the address allows: element by element, a warp would ask for each row of memory many
    // times.
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int items_there = int(max(min(count, Index(kItemsPerThread)), Index(0)));
    Items items[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k)
        items[k] = load_items(inputs, index + k * kStepItems, items_there - k * kStepItems);
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k)
        if (k < items_there)
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index + k));
    return total;
}

// combine() need not commute: each warp of the grid takes one contiguous share of the input and walks it in
// chunks, in which a lane folds kItemsPerThread consecutive elements. Shares, partials and blocks are
// joined in order.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* ticket)
{
    const Index length = segments.num_items;
    State total = identity();
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kChunk = kItemsPerThread * kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const Index num_warps = Index(gridDim.x) * kWarps;
    const Index warp = Index(blockIdx.x) * kWarps + threadIdx.x / kWarpThreads;
    const Index num_chunks = length / kChunk + 1;
    // Warps take equal shares of whole chunks; the first ones one chunk more where it does not divide evenly.
    const Index chunks = num_chunks / num_warps;
    const Index more = num_chunks % num_warps;
    const Index begin = (warp * chunks + min(warp, more)) * kChunk;
    const Index end = min(begin + (chunks + (warp < more ? 1 : 0)) * kChunk, length);
    for (Index chunk = begin; chunk < end; chunk += kChunk) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = warp_reduce(fold_consecutive(inputs, mine, mine, 0, end - mine));
        // The other lanes' totals stay the identity, so that the block's order is the shares'.
        if (lane == 0)
            total = combine(total, part);
    }

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
