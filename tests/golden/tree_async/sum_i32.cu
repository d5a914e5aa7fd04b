// tree_async: Copies to shared memory run ahead of the threads that fold
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// blocks_per_segment = 2
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
// Emitted by segfold from kernels/ladder/tree_async.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kMostBlockThreads = 128;
constexpr int kBlocksPerSegment = 2;
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

// Stores the total of part `part` of `num_parts`, which thread 0 has. The last block to come joins the totals
// of all parts in order, to its thread 0, and gets true. All threads of a block call it. Two calls need a
// barrier between them.
__device__ __forceinline__ bool join_last(State* partials, unsigned* ticket, int part, int num_parts,
                                          State& total)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[part] = total;
        __threadfence();  // others see the partial before the ticket
        last = atomicInc(ticket, num_parts - 1) == num_parts - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return false;
    __threadfence();  // reads the other blocks' partials after their tickets

    // Each thread joins a few consecutive totals.
    const int share = (num_parts + kBlockThreads - 1) / kBlockThreads;
    total = identity();
    #pragma unroll 1
    for (int k = 0; k < share; ++k) {
        const int mine = threadIdx.x * share + k;
        if (mine < num_parts)
            total = combine(total, partials[mine]);
    }
    total = block_reduce(total);
    __syncthreads();  // the warps' totals have been read, so the next call may write them
    return true;
}

// Folds part `part` of a segment. The last of the blocks that share the segment stores its total.
__device__ __forceinline__ void reduce_part(const Inputs& inputs,
                                            const Segments& segments,
                                            const Results& results,
                                            State* partials,
                                            unsigned* ticket,
                                            Index segment,
                                            int part,
                                            int num_parts)
{
    State total = fold_part(inputs, segments, segment, part, num_parts);
    if (join_last(partials, ticket, part, num_parts, total) && threadIdx.x == 0)
        store(results, segment, segment_length(segments, segment), total);
}

// kBlocksPerSegment neighbouring blocks share a segment. If the grid has no room for all segments, they go on
// with every num_teams-th segment. Each segment has its own partials and ticket, so no block waits for
// another.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* tickets)
{
    const Index num_teams = gridDim.x / kBlocksPerSegment;
    for (Index segment = blockIdx.x / kBlocksPerSegment; segment < segments.num_segments;
         segment += num_teams)
        reduce_part(inputs, segments, results, partials + (long long)segment * kBlocksPerSegment,
                    tickets + segment, segment, blockIdx.x % kBlocksPerSegment, kBlocksPerSegment);
}

// Starts a copy of 16 bytes from global to shared memory that bypasses registers and the first-level cache.
// Both addresses must be multiples of 16. This thread may read the copy after wait_for_copies(), and other
// threads after a barrier that follows.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
}

// Starts a copy of 4 bytes from global to shared memory, through the first-level cache. Both addresses must
// be multiples of 4.
__device__ __forceinline__ void copy_word_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared), "l"(from) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}

// Returns the place of byte `byte` of row `row` in shared memory. A row has `row_bytes` bytes, a power of two
// from 4 on. Vectors of 16 bytes are permuted within their row. Lanes that read vector k of their own
// rows then use different banks, and so do lanes that write the vectors of one row.
__device__ __forceinline__ int tile_place(int row, int byte, int row_bytes)
{
    const int vectors = row_bytes / 16;
    const int mask = vectors >= 8 ? row & 7 : row * vectors / 8 & (vectors - 1);
    return row * row_bytes + ((byte / 16 ^ mask) * 16 | byte % 16);
}

// Copies a tile of a column whose array begins in the middle of a vector, or less than a whole tile.
// This function is not inlined: tiles are copied in two places, and a single copy of it saves a twentieth of
// the compile time.
__device__ __noinline__ void copy_odd_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && element_bytes >= 4 && (unsigned long long)source % 4 == 0) {
        #pragma unroll 4
        for (int mine = lane * 4; mine < row_bytes * kWarpThreads; mine += 4 * kWarpThreads) {
            const int row = mine / (element_bytes == 4 ? 4 : 8) / kItemsPerThread;
            copy_word_async(column + tile_place(row, mine - row * row_bytes, row_bytes), source + mine);
        }
        return;
    }
    #pragma unroll 1
    for (int k = lane; k < kItemsPerThread * kWarpThreads; k += kWarpThreads) {
        const int byte_in_row = k % kItemsPerThread * element_bytes;
        char* const to = column + tile_place(k / kItemsPerThread, byte_in_row, row_bytes);
        #pragma unroll 1
        for (int byte = 0; byte < element_bytes; ++byte)
            to[byte] = k < count ? source[k * element_bytes + byte] : char(0);
    }
}

// Starts to copy a warp's tile of one column; each lane will take one row. Only `count` elements exist, which
// may be less than a tile; the other places become zero.
__device__ __forceinline__ void copy_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && (unsigned long long)source % 16 == 0) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads) {
            const int mine = byte + lane * 16;
            if (mine < row_bytes * kWarpThreads)  // rows of 8 bytes have fewer vectors than lanes
                copy_async(column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes), source + mine);
        }
        return;
    }
    copy_odd_column(column, source, element_bytes, count);
}

constexpr int kStepItems = 4;

// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct Tile {
    alignas(16) int x[kItemsPerThread * kWarpThreads];
};

// Starts to copy a tile of elements from `begin` on; elements at `end` and beyond become zero.
__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index end)
{
    copy_column((char*)tile.x, (const char*)(inputs.x + begin), 4, end - begin);
}

struct alignas(16) Chunk_x {
    int at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// Returns the items of this lane's row from step * kStepItems on.
__device__ __forceinline__ Items take_items(const Tile& tile, int step)
{
    const int lane = threadIdx.x % kWarpThreads;
    Items items;
    items.x[0] = *(const Chunk_x*)((const char*)tile.x + tile_place(lane, step * 16, kItemsPerThread * 4));
    return items;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// A warp takes consecutive tiles and has room for two: while its lanes fold one tile, the next one is copied,
// past the registers. Tiles begin at multiples of their size in the input, so that vectors can be copied.
// Elements of a tile that lie outside of the share are skipped.
// Each lane folds its row of every tile, and the lanes are joined at the end.
struct alignas(128) TwoTiles {
    Tile at[2];
};

__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there)
{
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kWarpItems = kItemsPerThread * kWarpThreads;
    __shared__ TwoTiles tiles[kWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    TwoTiles& mine = tiles[warp];

    const Index from = begin / kWarpItems * kWarpItems;
    const Index num_tiles = begin < end ? (end - from + kWarpItems - 1) / kWarpItems : 0;
    const Index last = from + part_begin(num_tiles, warp + 1, kWarps) * kWarpItems;
    Index tile = from + part_begin(num_tiles, warp, kWarps) * kWarpItems;
    State total = identity();
    int turn = 0;
    if (tile < last)
        copy_tile(mine.at[0], inputs, tile, there);
    for (; tile < last; tile += kWarpItems) {
        wait_for_copies();
        __syncwarp();  // the tile has been copied, and all lanes are done with the one before
        if (tile + kWarpItems < last)
            copy_tile(mine.at[turn ^ 1], inputs, tile + kWarpItems, there);
        #pragma unroll
        for (int step = 0; step < kItemsPerThread / kStepItems; ++step) {
            const Items items = take_items(mine.at[turn], step);
            #pragma unroll
            for (int k = 0; k < kStepItems; ++k) {
                const Index index = tile + lane * kItemsPerThread + step * kStepItems + k;
                if (begin <= index && index < end)
                    total = combine(total, lift_item(inputs, items, k, index));
            }
        }
        turn ^= 1;
    }
    return block_reduce(total);
}
