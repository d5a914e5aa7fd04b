// tree_cluster: Blocks of a cluster join their totals through each other's shared memory
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// cluster_blocks = 2
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
// Emitted by segfold from kernels/ladder/tree_cluster.cu; edit that file instead.

using Index = int;
using u64 = unsigned long long;

constexpr int kBlockThreads = 128;
constexpr int kMostBlockThreads = 128;
constexpr int kClusterBlocks = 2;
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

// Returns the begin of part `part` if `count` things are dealt to `num_parts` parts in order, as evenly as
// possible.
__device__ __forceinline__ Index part_begin(Index count, Index part, Index num_parts)
{
    return part * (count / num_parts) + min(part, count % num_parts);
}

// A rung whose blocks share a segment defines fold_share(). It folds the elements `begin` to `end` - 1 of the
// input, none if end <= begin, to thread 0 of a block. All threads call it; it ends with a barrier, so they
// may call it again. It may read elements before `there`, also of other shares.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there);

// Folds part `part` of a segment, which consists of neighbouring tiles, to thread 0 of a block.
__device__ __forceinline__ State fold_part(const Inputs& inputs, const Segments& segments, Index segment,
                                           int part, int num_parts)
{
    constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    const Index num_tiles = (length + kTileItems - 1) / kTileItems;
    const Index begin = part_begin(num_tiles, part, num_parts) * kTileItems;
    const Index end = min(part_begin(num_tiles, part + 1, num_parts) * kTileItems, length);
    const Index there = segments.num_items;
    return fold_share(inputs, first + begin, first + end, there);
}

// Waits until all threads of the cluster's blocks have arrived. Behind this barrier they see each other's
// earlier writes, also in the shared memory of other blocks.
__device__ __forceinline__ void wait_for_cluster()
{
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Returns the address, in the shared memory of block `rank` of the cluster, of the variable that this block
// has at `mine`.
__device__ __forceinline__ const State* in_block(const State* mine, unsigned rank)
{
    const State* theirs;
    asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
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

// Thread t takes the vectors t, t + kBlockThreads, ... of each tile, and joins the vectors of all tiles
// before the block's tree begins.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index)
{
    State total = identity();
    constexpr int kVectors = kItemsPerThread / kStepItems;
    for (Index tile = begin; tile < end; tile += kBlockThreads * kItemsPerThread) {
        Items items[kVectors];
        #pragma unroll
        for (int k = 0; k < kVectors; ++k) {
            const Index index = tile + (k * kBlockThreads + threadIdx.x) * kStepItems;
            items[k] = load_items(inputs, index, int(min(end - index, Index(kStepItems))));
        }
        #pragma unroll
        for (int k = 0; k < kVectors * kStepItems; ++k) {
            const int item = k % kStepItems;
            const Index index = tile + (k / kStepItems * kBlockThreads + threadIdx.x) * kStepItems + item;
            if (index < end)
                total = combine(total, lift_item(inputs, items[k / kStepItems], item, index));
        }
    }
    return block_reduce(total);
}

// Joins the totals of the cluster's blocks in order, to thread 0 of the first block. Thread 0 of each block
// has the block's total. All threads of the cluster call it.
__device__ __forceinline__ State join_cluster(State total)
{
    __shared__ State of_block;
    const bool is_first = blockIdx.x % kClusterBlocks == 0;
    if (threadIdx.x == 0)
        of_block = total;
    wait_for_cluster();  // the totals of all blocks are written
    if (is_first && threadIdx.x < kWarpThreads)
        total = warp_reduce(threadIdx.x < kClusterBlocks ? *in_block(&of_block, threadIdx.x) : identity());
    wait_for_cluster();  // the totals have been read, so blocks may leave or write again
    return total;
}

// A cluster takes one segment. If there are more segments than clusters, it goes on with every
// num_clusters-th segment. It needs no scratch memory.
extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1) __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const Index num_clusters = gridDim.x / kClusterBlocks;
    const int rank = blockIdx.x % kClusterBlocks;
    for (Index segment = blockIdx.x / kClusterBlocks; segment < segments.num_segments;
         segment += num_clusters) {
        const State total = join_cluster(fold_part(inputs, segments, segment, rank, kClusterBlocks));
        if (threadIdx.x == 0 && rank == 0)
            store(results, segment, segment_length(segments, segment), total);
    }
}
