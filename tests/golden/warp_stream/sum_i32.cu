// warp_stream: Each warp streams an equal share of items and segment ends; the last block joins the shares
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// blocks_per_multiprocessor = 2
// held_totals = 1024
// items_per_thread = 16
// ring_offsets = 512
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/warp_stream.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kItemsPerThread = 16;
constexpr int block_threads = 256;
constexpr int desk_bytes = 10496;
constexpr int held_totals = 1024;
constexpr int ring_offsets = 512;
constexpr int kTiles = 1;
constexpr int kTileRoom = 544;
constexpr int kEndWeight = 3;
constexpr int kTileItems = 512;
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

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    return __shfl_up_sync(kFullMask, state, delta);
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    return __shfl_down_sync(kFullMask, state, delta);
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    return __shfl_sync(kFullMask, state, lane);
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// Returns the segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Returns one past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1];
}

constexpr int kProbes = 2;  // ends that a lane tests in a round

// Returns the first segment s with segment_end(s) + weight * (s + 1) >= place, or the last segment if there
// is none. Each half of a warp searches for its own place.
__device__ __forceinline__ Index search_ends(const Segments& segments, long long place, int weight)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    Index low = 0;  // the answer is one of low to high
    Index high = segments.num_segments - 1;
    while (__any_sync(kFullMask, low < high)) {
        const Index step = (high - low) / (kHalf * kProbes) + 1;
        bool before[kProbes];
        #pragma unroll
        for (int k = 0; k < kProbes; ++k) {
            const Index probe = low + (k * kHalf + lane % kHalf) * step;
            before[k] = probe < high && segments.offsets[probe + 1] + (long long)weight * (probe + 1) < place;
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kProbes; ++k)
            count += __popc(__ballot_sync(kFullMask, before[k]) >> lane / kHalf * kHalf & 0xffff);
        if (count > 0) {
            high = min(high, low + count * step);
            low += (count - 1) * step + 1;
        } else {
            high = low;
        }
    }
    return low;
}

// The begin of a share: items before `item` and segments before `segment` belong to earlier shares.
struct Cut {
    Index item;
    Index segment;
};

// Returns the begin of share `share` to the lower half of the warp, and the begin of the next share to the
// upper half. Shares have equal sums of items and weighted ends: an end counts as kEndWeight items.
__device__ __forceinline__ Cut find_cut(const Segments& segments, Index share, Index num_shares)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    const Index mine = share + lane / kHalf;
    // An unsigned division takes fewer instructions.
    const unsigned long long places = segments.num_items + (long long)kEndWeight * segments.num_segments;
    const long long place = (long long)(places * mine / num_shares);
    const Index low = search_ends(segments, place, kEndWeight);
    const long long item = place - (long long)kEndWeight * low;
    Cut cut = {Index(min((long long)segments.offsets[low + 1], item)), low};
    if (mine == num_shares)
        cut = {segments.num_items, segments.num_segments};
    return cut;
}

// The fold of consecutive items: whether a segment ends among them, and the total of the items behind the
// last end, or of all items if no segment ends.
struct Run {
    State total;
    bool ends;
};

// The operator on runs. It is associative like combine(), and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
}

// Returns to each lane the join of the runs of all lanes up to it, its own included.
__device__ __forceinline__ Run warp_scan_runs(Run run)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const bool ends = __shfl_up_sync(kFullMask, int(run.ends), delta);
        const Run earlier = {shuffle_up(run.total, delta), ends};
        if (lane >= delta)
            run = join(earlier, run);
    }
    return run;
}

// Returns to each thread the join of the runs of all earlier threads. This function is neither inlined nor
// unrolled: it runs once a tile, and one small copy halves the compile time.
__device__ __noinline__ Run block_scan_runs(Run run)
{
    __shared__ Run warp_runs[kMostBlockThreads / kWarpThreads];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;

    const Run inclusive = warp_scan_runs(run);
    if (lane == kWarpThreads - 1)
        warp_runs[warp] = inclusive;
    Run before = {shuffle_up(inclusive.total, 1), bool(__shfl_up_sync(kFullMask, int(inclusive.ends), 1))};
    if (lane == 0)
        before = {identity(), false};
    __syncthreads();  // all warps have written their runs
    Run earlier = {identity(), false};
    #pragma unroll 1
    for (int other = 0; other < warp; ++other)
        earlier = join(earlier, warp_runs[other]);
    __syncthreads();  // all runs have been read, so the next call may write them
    return join(earlier, before);
}

constexpr Index kNoEnd = -1;      // as `waiting`: no segment ends in the share
constexpr Index kNoneWaits = -2;  // as `waiting`: segments end in the share, and all of them begin in it

// The fold of consecutive items after all segments that begin and end in them are stored.
struct Share {
    State head;     // items up to the first end, if that segment began earlier; it waits for its other parts
    State total;    // items behind the last end, or all items
    Index waiting;  // the segment of the head, or kNoneWaits, or kNoEnd
};

// Stores the total of a segment that was cut.
__device__ __forceinline__ void store_waiting(const Segments& segments,
                                              const Results& results,
                                              Index segment,
                                              State total)
{
    store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), total);
}

// Joins two neighbouring shares. If a segment begins in the earlier one and ends in the later one, stores it.
__device__ __forceinline__ Share join_shares(const Segments& segments,
                                             const Results& results,
                                             Share earlier,
                                             Share later)
{
    const State longer = combine(earlier.total, later.waiting == kNoEnd ? later.total : later.head);
    if (later.waiting == kNoEnd)
        return {earlier.head, longer, earlier.waiting};
    if (earlier.waiting == kNoEnd)
        return {longer, later.total, later.waiting};
    if (later.waiting >= 0)
        store_waiting(segments, results, later.waiting, longer);
    return {earlier.head, later.total, earlier.waiting};
}

// The last block joins the blocks' shares in order; each thread joins some consecutive shares.
__device__ __noinline__ void join_all_shares(const Segments& segments,
                                             const Results& results,
                                             const State* __restrict__ block_heads,
                                             const State* __restrict__ block_totals,
                                             const Index* __restrict__ block_waiting)
{
    const int each = int((gridDim.x + blockDim.x - 1) / blockDim.x);
    const int begin = threadIdx.x * each;
    const int end = min(begin + each, int(gridDim.x));
    Share mine = {identity(), identity(), kNoEnd};
    #pragma unroll 1
    for (int block = begin; block < end; ++block)
        mine = join_shares(segments, results, mine,
                           {block_heads[block], block_totals[block], block_waiting[block]});
    const Run before = block_scan_runs({mine.total, mine.waiting != kNoEnd});
    if (mine.waiting >= 0)
        store_waiting(segments, results, mine.waiting, combine(before.total, mine.head));
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

// Reduces one state per lane to lane 0, in lane order. At every step the left operand covers the lower lanes,
// so combine() need not commute.
__device__ __forceinline__ State warp_reduce(State state)
{
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
}

constexpr int kVectorOffsets = 16 / sizeof(Index);
constexpr int kChunkOffsets = kVectorOffsets * kWarpThreads;

// Copies `count` offsets of a lane's vector one by one: the last offsets, or the offsets of an array that
// begins in the middle of a vector. This function is not inlined, because offsets are copied in two places.
__device__ __noinline__ void copy_last_offsets(Index* to, const Index* from, Index count)
{
    #pragma unroll 1
    for (int k = 0; k < kVectorOffsets && k < count; ++k)
        to[k] = from[k];
}

// Starts to copy the offsets from `begin` on into a ring. Offset i goes to place i % ring_offsets. `begin`
// must be a multiple of kChunkOffsets, and `ring_offsets` a power of two. Offsets behind the last one are not
// copied.
__device__ __forceinline__ void copy_offsets(Index* ring,
                                             int ring_offsets,
                                             const Segments& segments,
                                             Index begin)
{
    const Index mine = begin + threadIdx.x % kWarpThreads * kVectorOffsets;
    Index* const to = ring + (unsigned(mine) & (ring_offsets - 1));
    const Index* const from = segments.offsets + mine;
    const bool aligned = (unsigned long long)segments.offsets % 16 == 0;
    if (aligned && begin + kChunkOffsets <= segments.num_segments + 1) {
        copy_async(to, from);
        return;
    }
    copy_last_offsets(to, from, segments.num_segments + 1 - mine);
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

constexpr int kCopies = 32;       // all rounds are unrolled
constexpr int kWalkCopies = 32;   // all rounds are unrolled
constexpr int kSteps = kItemsPerThread / kStepItems;

// Joins a lane's row to its run. No segment ends in the row.
__device__ __forceinline__ State fold_row(const Inputs& inputs,
                                          const Items (&items)[kSteps],
                                          Index row_begin,
                                          State run)
{
    #pragma unroll kWalkCopies
    for (int step = 0; step < kSteps; ++step) {
        const Items& some = items[step];
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            run = combine(run, lift_item(inputs, some, k, row_begin + step * kStepItems + k));
    }
    return run;
}

// Returns the number of segments that end in the rows of earlier lanes. `num_totals` becomes the number in
// all rows.
__device__ __forceinline__ int find_rank(unsigned ends, int& num_totals)
{
    const int lane = threadIdx.x % kWarpThreads;
    int rank = __popc(ends);
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, rank, delta);
        rank += lane >= delta ? earlier : 0;
    }
    num_totals = __shfl_sync(kFullMask, rank, kWarpThreads - 1);
    rank -= __popc(ends);
    return rank;
}

// Walks a lane's row. At each head, stores the run so far as the next total and starts a new run. Returns the
// run behind the last head.
__device__ __forceinline__ State walk_row(const Inputs& inputs,
                                          const Items (&items)[kSteps],
                                          Index row_begin,
                                          unsigned heads,
                                          State* place,
                                          State run)
{
    #pragma unroll kWalkCopies
    for (int step = 0; step < kSteps; ++step) {
        const Items& some = items[step];
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const int item = step * kStepItems + k;
            const bool is_head = heads >> item & 1;
            if (is_head)
                *place = run;
            place += is_head;
            const State state = lift_item(inputs, some, k, row_begin + item);
            const State longer = combine(run, state);
            run = is_head ? state : longer;
        }
    }
    return run;
}

// Joins the runs of the lanes. Each lane gets the run from the last head up to the end of its own row. If a
// lane has a head, the run of earlier lanes completes its first total, here[rank].
__device__ __forceinline__ State join_rows(State run, unsigned heads, State* here, int rank)
{
    const int lane = threadIdx.x % kWarpThreads;
    // A lane's run reaches back to the last lane with a head.
    const unsigned lanes = __ballot_sync(kFullMask, heads != 0);
    const int reach = max(31 - __clz(lanes & kFullMask >> (31 - lane)), 0);
    #pragma unroll kCopies
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State earlier = shuffle_up(run, delta);
        if (lane - delta >= reach)
            run = combine(earlier, run);
    }
    const State before = shuffle_up(run, 1);
    if (lane > 0 && heads != 0)
        here[rank] = combine(before, here[rank]);
    return run;
}

// Stores the totals of segments `begin` to `end` - 1. totals[0] belongs to segment `base`.
__device__ __forceinline__ void store_totals(const Segments& segments,
                                             const Results& results,
                                             const State* totals,
                                             Index base,
                                             Index begin,
                                             Index end)
{
    #pragma unroll 2
    for (Index segment = begin + threadIdx.x % kWarpThreads; segment < end; segment += kWarpThreads)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment),
              totals[segment - base]);
}

// Moves the totals of a tile apart to make room for empty segments. `here` holds the `num_totals` totals of
// non-empty segments among `begin` to `end` - 1. Goes from the last to the first, so no total is overwritten
// before it is moved.
__device__ __forceinline__ void let_empty_in(const Segments& segments,
                                             const Index* ring,
                                             int ring_offsets,
                                             State* here,
                                             int num_totals,
                                             Index begin,
                                             Index end,
                                             bool in_ring)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (Index chunk = end - begin; chunk > 0; chunk -= kWarpThreads) {
        const Index mine = chunk - 1 - lane;
        const Index segment = begin + mine;
        bool is_filled = false;
        if (mine >= 0)
            is_filled = in_ring ? ring[unsigned(segment) & (ring_offsets - 1)] !=
                                      ring[unsigned(segment + 1) & (ring_offsets - 1)]
                                : segment_begin(segments, segment) < segment_end(segments, segment);
        const unsigned filled = __ballot_sync(kFullMask, is_filled);
        const int later = __popc(filled & ((1u << lane) - 1));
        const State total = is_filled ? here[num_totals - 1 - later] : identity();
        __syncwarp();  // the totals have been read
        if (mine >= 0)
            here[mine] = total;  // at or behind all totals that the next round reads
        num_totals -= __popc(filled);
    }
}

constexpr int kAllTotals = kTileItems + 1;  // greater than any rank, so that empty segments at the end count

// Stores totals at once if more segments end in a tile than there is room for. `here` holds the totals of the
// next `num_totals` non-empty segments from `begin` on. Stores these, and the empty segments before the last
// of them, but none from `end` on. Returns the first segment that is not stored.
__device__ __forceinline__ Index store_crowd(const Segments& segments,
                                             const Results& results,
                                             const State* here,
                                             Index begin,
                                             Index end,
                                             Index first_stored,
                                             int num_totals)
{
    const int lane = threadIdx.x % kWarpThreads;
    int num_stored = 0;
    bool goes_on = true;
    #pragma unroll 1
    while (goes_on && begin < end) {
        const Index segment = begin + lane;
        Index length = 0;
        if (segment < end)
            length = segment_end(segments, segment) - segment_begin(segments, segment);
        const unsigned filled = __ballot_sync(kFullMask, length > 0);
        const int rank = num_stored + __popc(filled & ((1u << lane) - 1));
        const bool is_mine = segment < end && rank < num_totals;
        if (is_mine && segment >= first_stored)
            store(results, segment, length, length > 0 ? here[rank] : identity());
        const unsigned stored = __ballot_sync(kFullMask, is_mine);
        num_stored += __popc(filled & stored);
        begin += __popc(stored);
        goes_on = stored == kFullMask;
    }
    return begin;
}

constexpr int kMarks = 2;  // ends that a lane marks at once

// A warp's part of shared memory. It begins at a multiple of 128 bytes, which is a row of all banks. Copies
// to rows that straddle two rows of banks lose a tenth of the rate.
struct alignas(128) Desk {
    Tile tiles[kTiles];                     // if there are two, one is folded while the other is copied
    State totals[kTileRoom + held_totals];  // totals of segments that have ended, until they are stored
    unsigned ends[kWarpThreads];            // a bit for each item of each lane: 1 if a segment ends before it
    alignas(16) Index ring[ring_offsets];   // offset i is at i % ring_offsets
};

// The work of a warp: consecutive items, and the segments that end among them.
struct Stretch {
    Index begin;
    Index end;
    Index first_segment;
    Index end_segment;
};

// Returns the items and ends of a share. The whole warp calls it.
__device__ __forceinline__ Stretch find_stretch(const Segments& segments, Index share, Index num_shares)
{
    const Cut cut = find_cut(segments, share, num_shares);
    const Index begin = __shfl_sync(kFullMask, cut.item, 0);
    const Index end = __shfl_sync(kFullMask, cut.item, kWarpThreads - 1);
    const Index first_segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    return {begin, end, first_segment, end_segment};
}

// Marks where segments end in the tile, from segment `next` on, two in each lane at a time. `next` becomes
// the first segment that ends behind the tile.
// Then copies more offsets to the ring. If the ring holds too few offsets for the tile, copies some in
// between too.
__device__ __forceinline__ void mark_ends(const Segments& segments,
                                          Desk& desk,
                                          Index tile_begin,
                                          Index end_segment,
                                          int ring_offsets,
                                          Index& copied,
                                          Index& most,
                                          bool& in_ring,
                                          Index& next)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index ended = next;
    for (;;) {
        const Index limit = min(end_segment, copied - 1);
        Index places[kMarks];
        #pragma unroll
        for (int k = 0; k < kMarks; ++k) {
            const Index segment = next + k * kWarpThreads + lane;
            places[k] = kTileItems;
            if (segment < limit)
                places[k] = desk.ring[unsigned(segment + 1) & (ring_offsets - 1)] - tile_begin;
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kMarks; ++k) {
            const bool ends = places[k] < kTileItems;
            if (ends)
                atomicOr(&desk.ends[unsigned(places[k]) / kItemsPerThread],
                         1u << unsigned(places[k]) % kItemsPerThread);
            count += __popc(__ballot_sync(kFullMask, ends));
        }
        next += count;
        if (next < limit && count == kMarks * kWarpThreads)
            continue;
        const bool is_done = next < limit || next >= end_segment;
        most = min(ended + ring_offsets - kChunkOffsets, next + ring_offsets / 2);
        if (!is_done) {  // more segments end than the ring has offsets
            most = copied;
            in_ring = false;
        }
        __syncwarp();  // all ends are marked, and all lanes have read the offsets to be replaced
        #pragma unroll 1
        for (; copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, ring_offsets, segments, copied);
        if (is_done)
            break;
        wait_for_copies();
        __syncwarp();  // the offsets have been copied
    }
}

// A warp folds its share tile by tile. Lane k takes kItemsPerThread consecutive items of a tile and walks
// them once. If a segment ends before an item, the lane writes its run to the segment's place among the
// totals and begins a new run. A scan across the lanes completes the first total of each lane.
//
// Totals are stored when there is no room for more, because memory takes long rows of writes faster than
// short ones. A register carries the run that is open at the end of a tile into the next tile. The next tile
// and its offsets are copied to shared memory while this tile is folded. No warp waits for another.
//
// The first segment that ends in the share may have begun in an earlier share. Its part in this share is the
// share's head, which waits for join_shares().
__device__ __forceinline__ Share stream_share(const Inputs& inputs,
                                              const Segments& segments,
                                              const Results& results,
                                              Desk& desk,
                                              int ring_offsets,
                                              int held_totals,
                                              Index share,
                                              Index num_shares)
{
    const int lane = threadIdx.x % kWarpThreads;
    const auto [begin, end, first_segment, end_segment] = find_stretch(segments, share, num_shares);
    // Tiles begin where vectors begin, so lane 0 may read some items of the share before.
    const int skipped = unsigned(begin) % kItemsPerThread;
    Index tile_begin = begin - skipped;
    copy_tile(desk.tiles[0], inputs, tile_begin, segments.num_items);
    Index next = first_segment;  // the first segment that has not ended yet
    Index copied = next - unsigned(next) % kChunkOffsets;  // offsets before it are in the ring or under way
    Index most = next + ring_offsets / 2;                  // a copy of offsets may begin here at the latest
    const bool began_before =
        first_segment < end_segment && segment_begin(segments, first_segment) < begin;
    const bool ends_at_begin = began_before && segment_end(segments, first_segment) == begin;
    const Index first_stored = first_segment + (began_before ? 1 : 0);
    State* const totals = desk.totals + 1;  // one place is left before the first total
    Index base = first_segment;             // the segment of totals[0]
    desk.ends[lane] = 0;
    State head = identity();   // in lane 0: the share's head
    State carry = identity();  // in lane 0: the run that is open before the tile

    bool is_last;
    do {
        is_last = end - tile_begin < kTileItems;
        const bool is_first = tile_begin <= begin;
        #pragma unroll 1
        for (; copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, ring_offsets, segments, copied);
        wait_for_copies();
        __syncwarp();  // tile and offsets are copied, and the marks are 0
        // One tile under way for each warp is enough. With more, some multiprocessors only get ahead of
        // others.
        Items items[kSteps];
        #pragma unroll
        for (int step = 0; step < kSteps; ++step)
            items[step] = take_items(desk.tiles[0], step);
        __syncwarp();  // all items have been taken
        if (!is_last)
            copy_tile(desk.tiles[0], inputs, tile_begin + kTileItems, segments.num_items);

        const Index ended = next;
        bool in_ring = true;
        mark_ends(segments, desk, tile_begin, end_segment,
                  ring_offsets, copied, most,
                  in_ring,
                  next);

        const Index row_begin = tile_begin + lane * kItemsPerThread;
        State run = lane == 0 ? carry : identity();
        if (next == ended && !is_first && !is_last) {
            run = fold_row(inputs,
                           items,
                           row_begin, run);
            carry = warp_reduce(run);
        } else {
            const int room = kTileRoom + held_totals - 2;  // less one place before the totals and one behind
            // If there is no room for the totals of this tile, stores the totals so far.
            if (__any_sync(kFullMask, next - base > room)) {
                store_totals(segments, results, totals, base, max(base, first_stored), ended);
                base = ended;
                __syncwarp();  // all lanes have read the totals
            }
            State* const here = totals + (ended - base);
            // The share's borders count as ends, so that nothing is folded across them. The run before the
            // share's begin goes to the place before the first total. The run that is open at the share's end
            // goes to the place behind the last total.
            const bool cuts = is_first && lane == 0;
            unsigned ends = desk.ends[lane];
            if (cuts && !ends_at_begin)
                ends &= ~(1u << skipped);  // only empty segments end there
            desk.ends[lane] = 0;
            int num_totals;
            int rank = find_rank(ends, num_totals);  // rank of the lane's first end among the tile's ends
            unsigned heads = ends;
            if (cuts && !ends_at_begin) {
                heads |= 1u << skipped;
                rank = -1;
            }
            const int last = is_last ? int(end - tile_begin) : 0;
            if (is_last && lane == last / kItemsPerThread)
                heads |= 1u << last % kItemsPerThread;
            Index crowd = ended;  // the first segment in the tile that is not stored yet
            run = walk_row(inputs,
                           items,
                           row_begin, heads, here + rank, run);
            run = join_rows(run, heads, here, rank);
            if (cuts && ends_at_begin)
                here[0] = identity();  // items before the share's begin belong to another share
            carry = shuffle(run, kWarpThreads - 1);
            __syncwarp();  // all totals are complete
            if (began_before && ended == first_segment && next > ended)
                head = here[0];
            if (is_last) {
                // Nothing is open if a segment ends with the share.
                const unsigned closing = __shfl_sync(kFullMask, ends, last / kItemsPerThread);
                const bool is_open = begin < end && !(closing >> last % kItemsPerThread & 1);
                carry = is_open ? here[num_totals] : identity();
            }
            // True if empty segments end in the tile too, or if some totals are stored already.
            if (num_totals < next - crowd || crowd != ended) {
                if (__any_sync(kFullMask, next - base <= room)) {
                    let_empty_in(segments, desk.ring, ring_offsets, here, num_totals, ended, next, in_ring);
                } else {
                    store_crowd(segments, results, here, crowd, next, first_stored, kAllTotals);
                    base = next;
                }
            }
        }
        __syncwarp();  // all lanes have read totals, ring and tile
        // If segments are short, the next tile may need more offsets than the ring had room for so far.
        most = next + min(Index(ring_offsets - kChunkOffsets), next - ended + kWarpThreads);
        tile_begin += kTileItems;
    } while (!is_last);
    store_totals(segments, results, totals, base, max(base, first_stored), next);

    return {head, carry, next == first_segment ? kNoEnd : began_before ? first_segment : kNoneWaits};
}

extern "C" __global__ void __launch_bounds__(kMostBlockThreads, kBlocksPerMultiprocessor)
stream(Inputs inputs,
       Segments segments,
       Results results,
       State* block_heads,
       State* block_totals,
       Index* block_waiting,
       unsigned* ticket)
{
    extern __shared__ Desk desks[];
    __shared__ bool last;
    // Neighbouring blocks, which may run on one multiprocessor, take shares from both halves of the input. If
    // segments are short in one half and long in the other, issue slots and memory are then both busy.
    const unsigned half = gridDim.x / 2;
    const Index block = Index(2 * half == gridDim.x ? blockIdx.x % 2 * half + blockIdx.x / 2 : blockIdx.x);
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads;
    char* const own = reinterpret_cast<char*>(desks) + warp * desk_bytes;
    static_assert(sizeof(Desk) <= desk_bytes, "the launch provides for the desk");
    Desk& desk = *reinterpret_cast<Desk*>(own);
    const Share share = stream_share(inputs, segments, results, desk,
                                     ring_offsets,
                                     held_totals, block * num_warps + warp, Index(gridDim.x) * num_warps);
    // The warp is done with its desk, so its share may replace the tile.
    static_assert(sizeof(Share) <= sizeof(Tile), "a tile is larger than a share");
    if (threadIdx.x % kWarpThreads == 0)
        *reinterpret_cast<Share*>(own) = share;
    __syncthreads();  // the shares of all warps are written
    if (threadIdx.x == 0) {
        Share all = share;
        #pragma unroll 1
        for (int k = 1; k < num_warps; ++k)
            all = join_shares(segments, results, all, *reinterpret_cast<Share*>(own + k * desk_bytes));
        block_heads[block] = all.head;
        block_totals[block] = all.total;
        block_waiting[block] = all.waiting;
        __threadfence();  // others see the block's share before the ticket
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return;
    __threadfence();  // reads the other blocks' shares after their tickets
    join_all_shares(segments, results, block_heads, block_totals, block_waiting);
}
