// lean_stream: Each warp streams an equal share, leaves the run behind each item, reads totals by position
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// blocks_per_multiprocessor = 2
// held_totals = 512
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
// Emitted by segfold from kernels/stages/lean_stream.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kItemsPerThread = 16;
constexpr int block_threads = 256;
constexpr int desk_bytes = 9344;
constexpr int held_totals = 512;
constexpr int ring_offsets = 512;
constexpr int kLineItems = 32;
constexpr int kRowBytes = 64;
constexpr int kStateRow = 80;
constexpr int kEndsAtOnce = 2;
constexpr int kTotalsAtOnce = 2;
constexpr int kMarksBytes = 64;
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

// Marks in shared memory: the items of a warp's tile with which a segment ends.
using Bits = unsigned short;  // a bit for each item of a lane's row
using Marks = unsigned;       // a bit for each item of a tile: 1 if a segment ends with it

// Marks an item of the tile. A place outside of the tile sets no bit, in a word that few lanes share: a
// branch would cost more.
__device__ __forceinline__ void mark(Marks* marks, Index place)
{
    const unsigned bit = place >= 0 && place < kTileItems ? 1u << (place & 31) : 0;
    atomicOr(marks + unsigned(place) / 32 % (kTileItems / 32), bit);
}

// Returns the marks of this lane's row, and clears them.
__device__ __forceinline__ Bits take_marks(Marks* marks)
{
    Bits* const mine = reinterpret_cast<Bits*>(marks) + threadIdx.x % kWarpThreads;
    const Bits bits = *mine;
    *mine = 0;
    return bits;
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

constexpr int kSteps = kItemsPerThread / kStepItems;
constexpr int kStepBytes = kStepItems * sizeof(State);
constexpr int kStepAlignment = kStepBytes % 16 == 0 ? 16 : kStepBytes % 8 == 0 ? 8 : 4;

// The runs behind the items of one step of a lane.
struct alignas(kStepAlignment) States {
    State at[kStepItems];
};

// A warp's part of shared memory. It begins at a multiple of 128 bytes, which is a row of all banks. Copies
// to rows that straddle two rows of banks lose a tenth of the rate.
struct alignas(128) Row {
    char bytes[128];
};
struct Desk {
    Tile* tile;     // a tile; moved to registers or lifted before the next tile is copied there
    char* states;   // kStateRow bytes for each lane: its run behind each item; then the identity
    Marks* marks;
    Index* ring;    // offset i is at i % ring_offsets; the first kChunkOffsets follow once more at the end
    State* staged;  // the share's head, then totals until they are stored
};

__device__ __forceinline__ Desk lay_out(char* own, int ring_offsets)
{
    Desk desk;
    desk.tile = reinterpret_cast<Tile*>(own);
    desk.states = own + sizeof(Tile);
    constexpr int states_bytes = kStateRow * kWarpThreads + int(sizeof(State));
    desk.marks = reinterpret_cast<Marks*>(desk.states + (states_bytes + 15) / 16 * 16);
    desk.ring = reinterpret_cast<Index*>(reinterpret_cast<char*>(desk.marks) + kMarksBytes);
    desk.staged = reinterpret_cast<State*>(desk.ring + ring_offsets + kChunkOffsets);
    return desk;
}

// Starts to copy offsets from `copied` on, as many as the ring has room for while the offsets from `next` on
// stay.
__device__ __forceinline__ void fill_ring(const Segments& segments,
                                          Index* ring,
                                          int ring_offsets,
                                          Index next,
                                          Index end_segment,
                                          Index& copied)
{
    #pragma unroll 1
    while (copied + kChunkOffsets <= next + ring_offsets && copied <= end_segment) {
        copy_offsets(ring, ring_offsets, segments, copied);
        if ((unsigned(copied) & (ring_offsets - 1)) == 0)
            copy_offsets(ring + ring_offsets, ring_offsets, segments, copied);
        copied += kChunkOffsets;
    }
}

// Marks the last items of the segments from `next` to `known` - 1 that end in the tile. Returns the first
// segment that does not end there.
__device__ __forceinline__ Index mark_ends(const Desk& desk,
                                           int ring_offsets,
                                           Index tile_begin,
                                           Index next,
                                           Index known)
{
    const int lane = threadIdx.x % kWarpThreads;
    for (;;) {
        const Index* const mine = desk.ring + (unsigned(next + lane) & (ring_offsets - 1));
        Index places[kEndsAtOnce];
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kEndsAtOnce; ++k) {
            places[k] = -32 * (lane + 1);  // an unknown end sets no bit; lanes use different words
            if (next + k * kWarpThreads + lane < known)
                places[k] = mine[k * kWarpThreads + 1] - tile_begin - 1;
        }
        #pragma unroll
        for (int k = 0; k < kEndsAtOnce; ++k) {
            const bool is_known = next + k * kWarpThreads + lane < known;
            mark(desk.marks, places[k]);
            count += __popc(__ballot_sync(kFullMask, is_known && places[k] < kTileItems));
        }
        next += count;
        if (count < kEndsAtOnce * kWarpThreads)
            return next;
    }
}

// Walks a lane's row and writes the run behind each item. No run goes past the end of a segment. Each row but
// the first of the tile begins a new run.
__device__ __forceinline__ State walk_row(const Inputs& inputs,
                                          const Items (&items)[kSteps],
                                          Index row_begin,
                                          Bits begins,
                                          char* states,
                                          State run)
{
    #pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        const Items& some = items[step];
        States behind;
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const int item = step * kStepItems + k;
            State state = lift_item(inputs, some, k, row_begin + item);
            const bool is_begin = begins >> item & 1;
            if (!is_begin)  // a single instruction if combine() is one
                state = combine(run, state);
            run = state;
            behind.at[k] = run;
        }
        *reinterpret_cast<States*>(states + step * kStepBytes) = behind;
    }
    return run;
}

// Returns the run that a lane wrote behind the item at `place`. Behind the tile's last item stands the
// identity.
__device__ __forceinline__ State state_at(const char* states, unsigned place)
{
    constexpr int padding = kStateRow - kRowBytes;
    const unsigned row = place / kItemsPerThread;
    return *reinterpret_cast<const State*>(states + place * sizeof(State) + row * padding);
}

// A warp folds its share tile by tile. Lane k takes kItemsPerThread consecutive items of a tile, walks them
// once, and writes the run behind every item to shared memory. A scan across the lanes finds the run that is
// open before each row. Then each lane takes a segment and reads the run behind the segment's last item. If
// the segment began before the row of that item, the run before the row is joined in front. An empty segment
// reads the identity.
//
// Totals are collected and stored together, because memory takes long rows of writes faster than short ones.
// If more segments end in a tile than there are offsets or room for totals, the tile is walked again, with a
// mark behind the last segment that has a total. The same mark stands before the share's first item, so that
// nothing is folded across it. The next tile and its offsets are copied to shared memory while this tile is
// folded. No warp waits for another.
//
// The first segment that ends in the share may have begun in an earlier share. Its part in this share is the
// share's head, which waits for join_shares().
__device__ __forceinline__ Share stream_share(const Inputs& inputs,
                                              const Segments& segments,
                                              const Results& results,
                                              const Desk& desk,
                                              int ring_offsets,
                                              int held_totals,
                                              Index share,
                                              Index num_shares)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Cut cut = find_cut(segments, share, num_shares);
    const Index begin = __shfl_sync(kFullMask, cut.item, 0);
    const Index end = __shfl_sync(kFullMask, cut.item, kWarpThreads - 1);
    const Index first_segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    // Tiles begin where lines of memory begin, so the first tile may hold some items of the share before.
    Index tile_begin = begin - begin % kLineItems;
    Index next = first_segment;                            // the first segment that has no total yet
    Index copied = next - unsigned(next) % kChunkOffsets;  // offsets before it are in the ring or under way
    const bool began_before =
        first_segment < end_segment && segment_begin(segments, first_segment) < begin;
    const Index first_stored = first_segment + (began_before ? 1 : 0);
    #pragma unroll 1
    for (int k = lane; k < kMarksBytes / 4; k += kWarpThreads)
        reinterpret_cast<unsigned*>(desk.marks)[k] = 0;
    if (lane == 0) {
        *reinterpret_cast<State*>(desk.states + kStateRow * kWarpThreads) = identity();
        desk.staged[0] = identity();
    }
    Index base = next;         // segment of the first total that waits to be stored
    State carry = identity();  // in lane 0: the run that is open before the tile
    State before;              // the run that is open before this lane's row
    bool is_marked = true;     // true if nothing may be joined before the tile's first items
    bool is_over;
    do {
        if (is_marked) {
            wait_for_copies();
            __syncwarp();  // no copy to the tile is under way
            copy_tile(*desk.tile, inputs, tile_begin, segments.num_items);
            fill_ring(segments, desk.ring, ring_offsets, next, end_segment, copied);
        }
        wait_for_copies();
        __syncwarp();  // tile and offsets are copied; states, totals and ring have been read
        const bool is_last = end - tile_begin <= kTileItems;
        // One tile under way for each warp is enough. With more, some multiprocessors only get ahead of
        // others.
        Items items[kSteps];
        #pragma unroll
        for (int step = 0; step < kSteps; ++step)
            items[step] = take_items(*desk.tile, step);
        __syncwarp();  // all items have been taken
        if (!is_last)
            copy_tile(*desk.tile, inputs, tile_begin + kTileItems, segments.num_items);
        Index known = copied - 1;  // the ring holds the ends of the segments before this one
        fill_ring(segments, desk.ring, ring_offsets, next, end_segment, copied);
        if (is_marked) {
            if (lane == 0) {
                Index* const first = desk.ring + (unsigned(next) & (ring_offsets - 1));
                // The first segment counts from the share's begin on, though it may have begun before.
                const Index from = max(begin, *first);
                *first = from;
                if (first < desk.ring + kChunkOffsets)
                    first[ring_offsets] = from;
                mark(desk.marks, from - tile_begin - 1);
            }
            __syncwarp();  // all lanes see the begin of the first segment
        }
        known = min(min(known, end_segment), next + held_totals / 2);
        const Index ended = mark_ends(desk, ring_offsets, tile_begin, next, known);
        bool is_done = ended < known || ended == end_segment;
        // The tile is also done if a segment ends with its last item. Empty segments behind that item wait
        // for the next tile.
        if (!is_done && !is_last)
            is_done = desk.ring[unsigned(ended) & (ring_offsets - 1)] - tile_begin >= kTileItems;
        is_done = __any_sync(kFullMask, is_done);  // without this vote, the compiler writes the loop twice
        __syncwarp();  // all ends are marked
        const Bits ends = take_marks(desk.marks);

        State run = walk_row(inputs,
                             items,
                             tile_begin + lane * kItemsPerThread, Bits(ends << 1 | Bits(lane != 0)),
                             desk.states + lane * kStateRow, carry);
        if (ends >> (kItemsPerThread - 1) & 1)
            run = identity();
        // A lane's run reaches back to the last lane in which a segment ends.
        const unsigned lanes = __ballot_sync(kFullMask, ends != 0);
        const int span = lane - max(31 - __clz(lanes & kFullMask >> (31 - lane)), 0);
        #pragma unroll
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_up(run, delta);
            if (delta <= span)
                run = combine(earlier, run);
        }
        const State rotated = shuffle(run, (lane + kWarpThreads - 1) % kWarpThreads);
        before = lane == 0 ? identity() : rotated;
        State* place_staged = desk.staged + 1 + (next - base) + lane;
        __syncwarp();  // the runs of all rows are written
        // Reads the totals of the segments that end in the tile.
        #pragma unroll 1
        for (; next < ended; next += kTotalsAtOnce * kWarpThreads) {
            const Index* const mine = desk.ring + (unsigned(next + lane) & (ring_offsets - 1));
            State totals[kTotalsAtOnce];
            bool are_filled[kTotalsAtOnce];
            #pragma unroll
            for (int k = 0; k < kTotalsAtOnce; ++k) {
                Index from = 0;
                Index behind = 0;
                if (next + k * kWarpThreads + lane < ended) {
                    from = mine[k * kWarpThreads] - tile_begin;
                    behind = mine[k * kWarpThreads + 1] - tile_begin;
                }
                are_filled[k] = from < behind;
                const unsigned place = are_filled[k] ? unsigned(behind - 1) : unsigned(kTileItems);
                const State earlier = shuffle(before, place / kItemsPerThread % kWarpThreads);
                totals[k] = state_at(desk.states, place);
                if (from < Index(place / kItemsPerThread * kItemsPerThread))
                    totals[k] = combine(earlier, totals[k]);
            }
            #pragma unroll
            for (int k = 0; k < kTotalsAtOnce; ++k, place_staged += kWarpThreads) {
                if (next + k * kWarpThreads + lane < ended)
                    *place_staged = totals[k];
            }
        }
        next = ended;
        is_over = is_last && is_done;
        if (__any_sync(kFullMask, next - base > held_totals / 2 || is_over)) {
            __syncwarp();  // all totals are written
            #pragma unroll 2
            for (Index segment = max(base, first_stored) + lane; segment < next; segment += kWarpThreads)
                store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment),
                      desk.staged[1 + segment - base]);
            if (lane == 0 && base == first_segment && next > base)
                desk.staged[0] = desk.staged[1];  // the share's head, if it has one
            base = next;
        }
        is_marked = !is_done;
        if (is_done) {
            carry = rotated;
            tile_begin += kTileItems;
        }
    } while (!is_over);

    // The run that is open at the share's end is read like the total of a segment that ends there.
    tile_begin -= kTileItems;
    const Index from = desk.ring[unsigned(next) & (ring_offsets - 1)] - tile_begin;
    const unsigned last = unsigned(max(end - 1 - tile_begin, Index(0)));
    const State earlier = shuffle(before, last / kItemsPerThread);
    State total = state_at(desk.states, last);
    if (from < Index(last / kItemsPerThread * kItemsPerThread))
        total = combine(earlier, total);
    if (from >= end - tile_begin)
        total = identity();
    __syncwarp();  // the head is written
    const State head = desk.staged[0];
    return {head, total, next == first_segment ? kNoEnd : began_before ? first_segment : kNoneWaits};
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
    const Segments& ends = segments;
    extern __shared__ Row desks[];
    __shared__ bool last;
    // Neighbouring blocks, which may run on one multiprocessor, take shares from both halves of the input. If
    // segments are short in one half and long in the other, issue slots and memory are then both busy.
    const unsigned half = gridDim.x / 2;
    const Index block = Index(2 * half == gridDim.x ? blockIdx.x % 2 * half + blockIdx.x / 2 : blockIdx.x);
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads;
    char* const own = reinterpret_cast<char*>(desks) + warp * desk_bytes;
    const Share share = stream_share(inputs, ends, results, lay_out(own, ring_offsets), ring_offsets,
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
            all = join_shares(ends, results, all, *reinterpret_cast<Share*>(own + k * desk_bytes));
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
    join_all_shares(ends, results, block_heads, block_totals, block_waiting);
}
