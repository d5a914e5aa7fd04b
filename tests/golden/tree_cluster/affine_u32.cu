// tree_cluster: Blocks of a cluster join their totals through each other's shared memory
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// cluster_blocks = 2
// items_per_thread = 16
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

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.scale = __shfl_down_sync(kFullMask, state.scale, delta);
    state.shift = __shfl_down_sync(kFullMask, state.shift, delta);
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

// Where part `part` of `count` things begins that are dealt to `num_parts` as evenly as can be, in order.
__device__ __forceinline__ Index part_begin(Index count, Index part, Index num_parts)
{
    return part * (count / num_parts) + min(part, count % num_parts);
}

// What makes a rung whose blocks share a segment. fold_share() folds the elements of the input from `begin`
// to `end`, none where the end comes first, to thread 0 of a block; all threads call it, and its last barrier
// lets them call it again. Elements up to `there` may be read, be they of another share.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there);

// Folds part `part` of a segment, whole tiles that lie side by side, to thread 0 of a block.
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

// Waits until all threads of the cluster's blocks are here. What they did before is seen behind it, also in
// each other's shared memory.
__device__ __forceinline__ void wait_for_cluster()
{
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Where block `rank` of the cluster has what this block has at `mine` in its shared memory.
__device__ __forceinline__ const State* in_block(const State* mine, unsigned rank)
{
    const State* theirs;
    asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
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

constexpr int kStepItems = 4;

struct alignas(16) Chunk_scale {
    unsigned at[4];
};

struct alignas(16) Chunk_shift {
    unsigned at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_scale scale[1];
    Chunk_shift shift[1];
};

// The items from the element at `index` on, of which `count` are there; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
    if (count >= kStepItems && (unsigned long long)(inputs.scale + index) % alignof(Chunk_scale) == 0) {
        items.scale[0] = *(const Chunk_scale*)(inputs.scale + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.scale[k / 4].at[k % 4] = inputs.scale[index + k];
    }
    if (count >= kStepItems && (unsigned long long)(inputs.shift + index) % alignof(Chunk_shift) == 0) {
        items.shift[0] = *(const Chunk_shift*)(inputs.shift + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.shift[k / 4].at[k % 4] = inputs.shift[index + k];
    }
    return items;
}

// Item k of a step, which is the element at `index` of the input, lifted.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.scale[0].at[k], items.shift[0].at[k]);
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

// combine() need not commute: a warp takes a share of its own, of chunks that lie side by side, and joins its
// lanes once a chunk.
__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index)
{
    State total = identity();
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kChunk = kItemsPerThread * kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const Index num_chunks = begin < end ? (end - begin + kChunk - 1) / kChunk : 0;
    const Index last = min(begin + part_begin(num_chunks, warp + 1, kWarps) * kChunk, end);
    for (Index chunk = begin + part_begin(num_chunks, warp, kWarps) * kChunk; chunk < last; chunk += kChunk) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = warp_reduce(fold_consecutive(inputs, mine, 0, 0, last - mine));
        // The other lanes' totals stay the identity, so that the block's order is the shares'.
        if (lane == 0)
            total = combine(total, part);
    }
    return block_reduce(total);
}

// Joins the totals of the cluster's blocks, which their threads 0 have, in order, to thread 0 of the first
// block. All threads of the cluster call it.
__device__ __forceinline__ State join_cluster(State total)
{
    __shared__ State of_block;
    const bool is_first = blockIdx.x % kClusterBlocks == 0;
    if (threadIdx.x == 0)
        of_block = total;
    wait_for_cluster();  // the totals of all blocks are there
    if (is_first && threadIdx.x < kWarpThreads)
        total = warp_reduce(threadIdx.x < kClusterBlocks ? *in_block(&of_block, threadIdx.x) : identity());
    wait_for_cluster();  // they have been read: blocks may leave, or write the next ones
    return total;
}

// A cluster takes one segment, or every so many of them where there are more than clusters, and needs no
// memory but its own.
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
