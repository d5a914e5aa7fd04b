// running_tiles: Running results: equal tiles in one pass, states of open segments by look-back
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 16
// span_tiles = 32
//
// Exact and not commutative, and asks for no place: segments are bits of their entries.
// operator plain_scan(x: u32) -> (each hash: u64, each low: u16) {
//   state { hash: u64 = 0; power: u64 = 1 }
//   lift {
//     hash = u64(x) * 13787848793156543929 + 1;
//     power = 15074714826142052245;
//   }
//   combine(a, b) {
//     hash = a.hash * b.power + b.hash;
//     power = a.power * b.power;
//   }
//   scan(before, through) {
//     hash = through.hash * 31 + before.hash * 7;
//     low = u16(through.power);
//   }
// }
//
// Emitted by segfold from kernels/stages/running_tiles.cu; edit that file instead.

using Index = int;
using u16 = unsigned short;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kBlockThreads = 128;
constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 16;
constexpr int kSpanTiles = 32;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

// Returns x, and hides its origin from compilers, because they forget that some arithmetic wraps.
__device__ __forceinline__ int opaque(int x)
{
    asm("" : "+r"(x));
    return x;
}

struct Inputs {
    const unsigned* x;
};

struct Results {
    u64* hash__;
    u64* power;
    u64* hash;  // of each element
    u16* low;  // of each element
};

struct State {
    u64 hash;
    u64 power;
};

__device__ __forceinline__ State identity()
{
    return {0, 1};
}

__device__ __forceinline__ State lift(unsigned x)
{
    return {u64(x) * 13787848793156543929ull + 1, 15074714826142052245ull};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return {a.hash * b.power + b.hash, a.power * b.power};
}

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    state.hash = __shfl_up_sync(kFullMask, state.hash, delta);
    state.power = __shfl_up_sync(kFullMask, state.power, delta);
    return state;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.hash = __shfl_down_sync(kFullMask, state.hash, delta);
    state.power = __shfl_down_sync(kFullMask, state.power, delta);
    return state;
}

constexpr int kScanItems = 4;

// The outputs of one element.
struct Scanned {
    u64 hash;
    u16 low;
};

// kScanItems consecutive elements of the columns that scan reads.
struct ScanItems {
};

// Loads `count` elements from the element at `index` on; the others become zero.
__device__ __forceinline__ ScanItems load_scan_items(const Inputs&, Index, int)
{
    ScanItems items = {};
    return items;
}

// What an element gets, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_element(State before, State through)
{
    return {through.hash * 31 + before.hash * 7, u16(opaque(int(through.power)))};
}

// Returns the outputs of element k of `items`, from its segment's states before this element and with it.
__device__ __forceinline__ Scanned scan_item(const Inputs&, const ScanItems&, int,
                                             State before, State through, Index, Index,
                                             Index)
{
    return scan_element(before, through);
}

struct alignas(16) OutputChunk_hash {
    u64 at[2];
};

struct alignas(8) OutputChunk_low {
    u16 at[4];
};

// The outputs of kScanItems consecutive elements.
struct ScanOutputs {
    OutputChunk_hash hash[2];
    OutputChunk_low low[1];
};

__device__ __forceinline__ void keep_scanned(ScanOutputs& outputs, int k, const Scanned& mapped)
{
    outputs.hash[k / 2].at[k % 2] = mapped.hash;
    outputs.low[k / 4].at[k % 4] = mapped.low;
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

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

// Returns the segment that holds `item`, which must be one of `first` to `last`. It is the last segment that
// begins at or before the item, so empty segments are skipped.
__device__ __forceinline__ Index find_segment(const Segments& segments, Index item, Index first, Index last)
{
    while (first < last) {
        const Index middle = last - (last - first) / 2;
        if (segments.offsets[middle] <= item)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

// Where the way of a scan enters segments among a thread's items.
struct Way {
    unsigned entries;  // a bit for each item of this step and the next ones: 1 if the way enters a segment
};

// Goes on to an item, which is the k-th of its step. Returns true if the way enters a segment with it.
__device__ __forceinline__ bool go_on(const Way& way, const Segments&, Index, int k)
{
    return (way.entries >> k & 1u) != 0;
}
__device__ __forceinline__ void next_step(Way& way, int items) { way.entries >>= items; }
__device__ __forceinline__ Way way_of_bits(unsigned bits) { return {bits}; }

// A bit for each item of a tile: 1 if the way enters a segment with it.
constexpr int kEntryWords = kBlockThreads * kItemsPerThread / 32;

// Notes the entries to the segments `first` to `last` that lie in the tile. All threads of the block call it;
// the words are 0.
__device__ __forceinline__ void mark_entries(unsigned (&words)[kEntryWords], const Segments& segments,
                                             Index tile_begin, Index first, Index last)
{
    for (Index segment = first + int(threadIdx.x); segment <= last; segment += kBlockThreads) {
        const Index place = segment_begin(segments, segment) - tile_begin;
        if (place >= 0 && place < kEntryWords * 32)
            atomicOr(&words[place / 32], 1u << place % 32);
    }
}

// Returns the way of a thread whose first item is item `first` of the tile.
__device__ __forceinline__ Way way_of(const unsigned (&words)[kEntryWords], int first)
{
    return way_of_bits(words[first / 32] >> first % 32 & (~0u >> (32 - kItemsPerThread)));
}

// Joins the state of the items that a scan has passed with the state of the next items on its way.
__device__ __forceinline__ State join_on_way(State passed, State next)
{
    return combine(passed, next);
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

constexpr int kWarpItems = kItemsPerThread * kWarpThreads;

// Returns the place of this lane's vector in the pass over a tile that begins at byte `byte` of a column. Rows of
// up to 64 bytes are permuted alike in each pass.
__device__ __forceinline__ int vector_place(int byte, int row_bytes)
{
    const int mine = int(threadIdx.x) % kWarpThreads * 16;
    if (row_bytes <= 64)
        return tile_place(mine / row_bytes, mine % row_bytes, row_bytes) + byte;
    return tile_place((byte + mine) / row_bytes, (byte + mine) % row_bytes, row_bytes);
}

// Returns the bytes of a column's first `count` elements, or of all that a warp's tile holds if they are more.
__device__ __forceinline__ int tile_bytes(int element_bytes, Index count)
{
    return int(max(min(count, Index(kWarpItems)), Index(0))) * element_bytes;
}

// Starts to copy the first `count` elements of a column to a warp's tile, or as many as it holds. Each lane will
// take one row. Places behind the elements become zero if there are any elements.
__device__ __forceinline__ void copy_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool in_vectors = (unsigned long long)source % 16 == 0;
    if (in_vectors && count >= kWarpItems) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads)
            if (byte + lane * 16 < row_bytes * kWarpThreads)  // short rows have fewer vectors than lanes
                copy_async(column + vector_place(byte, row_bytes), source + byte + lane * 16);
        return;
    }
    const int bytes = tile_bytes(element_bytes, count);
    const int vector_bytes = in_vectors ? bytes / 16 * 16 : 0;
    #pragma unroll 1
    for (int byte = 0; byte + lane * 16 < vector_bytes; byte += 16 * kWarpThreads)
        copy_async(column + vector_place(byte, row_bytes), source + byte + lane * 16);
    // What vectors leave: words, or elements that are narrower.
    const int step = element_bytes < 4 ? element_bytes : 4;
    const int end = count > 0 ? row_bytes * kWarpThreads : 0;
    #pragma unroll 1
    for (int mine = vector_bytes + lane * step; mine < end; mine += step * kWarpThreads) {
        char* const to = column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes);
        if (step == 4 && mine < bytes)
            copy_word_async(to, source + mine);
        else if (step == 4)
            *(unsigned*)to = 0;
        else if (step == 2)
            *(unsigned short*)to = mine < bytes ? *(const unsigned short*)(source + mine) : 0;
        else
            *to = mine < bytes ? source[mine] : char(0);
    }
}

// Writes the first `count` elements of a column of a warp's tile to memory, or as many as the tile holds.
__device__ __forceinline__ void store_column(char* to, const char* column, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool in_vectors = (unsigned long long)to % 16 == 0;
    if (in_vectors && count >= kWarpItems) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads)
            if (byte + lane * 16 < row_bytes * kWarpThreads)
                *(uint4*)(to + byte + lane * 16) = *(const uint4*)(column + vector_place(byte, row_bytes));
        return;
    }
    const int bytes = tile_bytes(element_bytes, count);
    const int vector_bytes = in_vectors ? bytes / 16 * 16 : 0;
    #pragma unroll 1
    for (int byte = 0; byte + lane * 16 < vector_bytes; byte += 16 * kWarpThreads)
        *(uint4*)(to + byte + lane * 16) = *(const uint4*)(column + vector_place(byte, row_bytes));
    const int step = element_bytes < 4 ? element_bytes : 4;
    #pragma unroll 1
    for (int mine = vector_bytes + lane * step; mine < bytes; mine += step * kWarpThreads) {
        const char* const from = column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes);
        if (step == 4)
            *(unsigned*)(to + mine) = *(const unsigned*)from;
        else if (step == 2)
            *(unsigned short*)(to + mine) = *(const unsigned short*)from;
        else
            to[mine] = *from;
    }
}

// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct Tile {
    alignas(16) unsigned x[kItemsPerThread * kWarpThreads];
};

// Starts to copy a tile of elements from `begin` on; elements at `end` and beyond become zero.
__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index end)
{
    copy_column((char*)tile.x, (const char*)(inputs.x + begin), 4, end - begin);
}

struct alignas(16) Chunk_x {
    unsigned at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// Returns the items of row `row` from step * kStepItems on.
__device__ __forceinline__ Items take_row_items(const Tile& tile, int row, int step)
{
    Items items;
    items.x[0] = *(const Chunk_x*)((const char*)tile.x + tile_place(row, step * 16, kItemsPerThread * 4));
    return items;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// The outputs of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct ScannedTile {
    alignas(16) u64 hash[kItemsPerThread * kWarpThreads];
    alignas(16) u16 low[kItemsPerThread * kWarpThreads];
};

// Puts the outputs of a step into row `row`, from its item `first` on.
__device__ __forceinline__ void put_scanned(ScannedTile& tile, int row, int first, const ScanOutputs& outputs)
{
    *(OutputChunk_hash*)((char*)tile.hash
        + tile_place(row, (first) * 8, kItemsPerThread * 8)) = outputs.hash[0];
    *(OutputChunk_hash*)((char*)tile.hash
        + tile_place(row, (first + 2) * 8, kItemsPerThread * 8)) = outputs.hash[1];
    *(OutputChunk_low*)((char*)tile.low + tile_place(row, (first) * 2, kItemsPerThread * 2)) = outputs.low[0];
}

// Writes the outputs of a warp's tile, of which `count` elements exist, from the element at `index` on.
__device__ __forceinline__ void store_scanned_tile(const Results& results, Index index, Index count,
                                                   const ScannedTile& tile)
{
    store_column((char*)(results.hash + index), (const char*)tile.hash, 8, count);
    store_column((char*)(results.low + index), (const char*)tile.low, 2, count);
}

// Running results of a tile: a warp has consecutive rows of items, a lane one row of kItemsPerThread items.
// The way of the scan passes blocks, warps, lanes and items from the first to the last.
constexpr int kTileWarps = kBlockThreads / kWarpThreads;

__device__ __forceinline__ int way_warp() { return int(threadIdx.x) / kWarpThreads; }
__device__ __forceinline__ int way_row() { return int(threadIdx.x) % kWarpThreads; }
__device__ __forceinline__ int way_step(int done) { return done; }
__device__ __forceinline__ int way_item(int k) { return k; }

// A warp's shared memory. Elements and outputs cross it, so that neighbouring lanes copy neighbouring vectors
// from and to the arrays.
struct WarpTile {
    Tile elements;
    ScannedTile outputs;
};

// The items of a thread, and those of its warp.
struct Own {
    Index begin;  // the first item in the order of the data
    int count;
    int row;  // in the warp's tile
    Index warp_begin;
    Index warp_count;  // not positive if the warp has no items; may be more than a tile
};

__device__ __forceinline__ Own own_items(Index tile_begin, Index tile_end)
{
    const int row = way_row();
    const Index warp_begin = tile_begin + way_warp() * kWarpThreads * kItemsPerThread;
    const Index begin = warp_begin + row * kItemsPerThread;
    const int count = int(max(min(tile_end - begin, Index(kItemsPerThread)), Index(0)));
    return {begin, count, row, warp_begin, tile_end - warp_begin};
}

// Returns the item of a thread that the way passes first. The thread must have items.
__device__ __forceinline__ Index first_on_way(const Own& own) { return own.begin; }

// Starts to copy a warp's elements. They may be taken after finish_copy().
__device__ __forceinline__ void start_copy(WarpTile& tile, const Inputs& inputs, const Own& own)
{
    copy_tile(tile.elements, inputs, own.warp_begin, own.warp_begin + own.warp_count);
}
__device__ __forceinline__ void finish_copy()
{
    wait_for_copies();
    __syncwarp();  // all lanes' copies have come
}

// take_step() takes kScanItems items from item `first` of a thread on; lift_step() lifts item k of them.
__device__ __forceinline__ Items take_step(const WarpTile& tile, const Own& own, int first)
{
    return take_row_items(tile.elements, own.row, first / kScanItems);
}
__device__ __forceinline__ State lift_step(const Inputs& inputs, const Items& items, int k, const Way&, Index,
                                           Index index)
{
    return lift_item(inputs, items, k, index);
}

// Returns the index in the input of item `item`, which the way has reached.
__device__ __forceinline__ Index way_element(const Segments&, const Way&, Index item) { return item; }

// Items that do not exist may be taken: they are zeros in the tile, and no table is read for them. On the way
// they come after all others, or before the entry to the data's last segment.
__device__ __forceinline__ bool is_item(const Own&, int) { return true; }

// Returns the run that a thread's items leave open.
__device__ __forceinline__ Run fold_own(const Inputs& inputs, const Segments& segments, const WarpTile& tile,
                                        const Own& own, Way way)
{
    Run run = {identity(), way.entries != 0};
    const int num_items = own.warp_count > 0 ? kItemsPerThread : 0;
    #pragma unroll 1
    for (int done = 0; done < num_items; done += kScanItems) {
        const int first = way_step(done);
        const auto items = take_step(tile, own, first);
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = first + way_item(k);
            if (!is_item(own, at))
                continue;
            const Index item = own.begin + at;
            const bool enters = go_on(way, segments, item, k);
            const State state =
                lift_step(inputs, items, way_item(k), way, item, way_element(segments, way, item));
            run.total = enters ? state : join_on_way(run.total, state);
        }
        next_step(way, kScanItems);
    }
    return run;
}

// Writes the outputs of a thread's items. If a segment is open when the way reaches them, `state` is the
// total of this segment's items that the way has passed. All threads of a warp call this function.
__device__ __forceinline__ void scan_own(const Inputs& inputs, const Segments& segments, const Results& results,
                                         WarpTile& tile, const Own& own, Way way, State state)
{
    const int num_items = own.warp_count > 0 ? kItemsPerThread : 0;
    #pragma unroll 1
    for (int done = 0; done < num_items; done += kScanItems) {
        const int first = way_step(done);
        const auto items = take_step(tile, own, first);
        const int count = max(min(own.count - first, kScanItems), 0);
        const ScanItems columns = load_scan_items(inputs, own.begin + first, count);
        ScanOutputs outputs = {};
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = first + way_item(k);
            if (!is_item(own, at))
                continue;
            const Index item = own.begin + at;
            const bool enters = go_on(way, segments, item, k);
            const Index index = way_element(segments, way, item);
            const State next = lift_step(inputs, items, way_item(k), way, item, index);
            const State passed = enters ? identity() : state;
            state = enters ? next : join_on_way(state, next);
            const Index position = 0;  // scan_item() reads no places
            const Index segment = 0;
            keep_scanned(outputs, way_item(k), scan_item(inputs, columns, way_item(k), passed, state, index,
                                                         position, segment));
        }
        next_step(way, kScanItems);
        put_scanned(tile.outputs, own.row, first, outputs);
    }
    __syncwarp();  // the outputs of all lanes are in the tile
    store_scanned_tile(results, own.warp_begin, own.warp_count, tile.outputs);
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

// A state in pieces of 32 bits. Each piece travels in a word of 64 bits, together with a mark that the piece
// has come. So a reader knows which pieces have come, and needs no fence.
constexpr int kStatePieces = (int(sizeof(State)) + 3) / 4;

union StatePieces {
    State state;
    unsigned at[kStatePieces];
};

__device__ __forceinline__ StatePieces pieces_of(const State& state)
{
    StatePieces pieces;
    pieces.at[kStatePieces - 1] = 0;  // the state may not fill the last piece
    pieces.state = state;
    return pieces;
}

// States of earlier tiles by look-back (Merrill & Garland 2016), joined in an order that follows from the
// segments alone: results are the same in every run, also where combine() rounds. kSpanTiles consecutive tiles
// are a span, and as many spans a stretch. Each tile tells the state of its own items of the segment that is
// open behind it; the last tile of a span tells that of the span's items, and the last one of a stretch that of
// all items. So a tile reads no more states than those of its span's tiles, of its stretch's spans, and one.
//
// A state travels in pieces of 32 bits. The upper half of each piece's word holds the launch's tag, so that
// words of earlier launches are ignored and readers need no fence.
constexpr int kLevels = 3;  // tiles, spans, stretches

// Returns the place of a state of a level: that of the tile, span or stretch which contains `tile`.
__device__ __forceinline__ i64 state_place(int level, Index tile)
{
    const i64 spans = i64(gridDim.x) / kSpanTiles + 1;
    return level == 0   ? i64(tile)
           : level == 1 ? i64(gridDim.x) + tile / kSpanTiles
                        : i64(gridDim.x) + spans + tile / (kSpanTiles * kSpanTiles);
}

// Tells a state. One lane calls it.
__device__ __forceinline__ void tell_state(volatile u64* words, int level, Index tile, unsigned tag,
                                           const State& state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        words[state_place(level, tile) * kStatePieces + k] = u64(tag) << 32 | pieces.at[k];
}

// True for the last tile of a span, or of a stretch.
__device__ __forceinline__ bool is_last_of_span(Index tile) { return (tile + 1) % kSpanTiles == 0; }
__device__ __forceinline__ bool is_last_of_stretch(Index tile)
{
    return (tile + 1) % (kSpanTiles * kSpanTiles) == 0;
}

// Reads a state. Returns true once all of its pieces have come.
__device__ __forceinline__ bool ask_state(const volatile u64* words, i64 place, unsigned tag, State& state)
{
    StatePieces pieces;
    bool is_told = true;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k) {
        const u64 word = words[place * kStatePieces + k];
        is_told = is_told && unsigned(word >> 32) == tag;
        pieces.at[k] = unsigned(word);
    }
    state = pieces.state;
    return is_told;
}

// Returns to lane 0 the join of the states of the first `count` lanes. A higher lane's items lie farther back.
__device__ __forceinline__ State join_lanes(State state, int count)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State farther = shuffle_down(state, delta);
        if (lane + delta < count)
            state = join_on_way(farther, state);
    }
    return state;
}

// Returns to lane 0 of a warp the state of the segment that is open before `tile`. The way enters this segment
// in the earlier tile `entry`. Tiles must be taken in their order by running blocks, so that the wait for them
// ends. If the segment goes on behind the tile, `own` is the state of the tile's items, and the function tells
// the states that depend on earlier tiles.
__device__ __forceinline__ State look_back_states(volatile u64* words, Index tile, Index entry, unsigned tag,
                                               bool goes_on, State own)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index span = tile / kSpanTiles;
    const Index stretch = span / kSpanTiles;
    const Index nearest[kLevels] = {tile, span, stretch};
    const Index farthest[kLevels] = {max(entry, span * kSpanTiles),
                                     max(entry / kSpanTiles, stretch * kSpanTiles), stretch - 1};
    int counts[kLevels];
    i64 places[kLevels];
    bool is_told[kLevels];
    State states[kLevels];
    Index tiles = 1;  // of each state of a level
    #pragma unroll
    for (int level = 0; level < kLevels; ++level) {
        // States of a level are needed if the segment began before those of the levels below.
        const bool is_needed = level == 0 || entry < nearest[level] * tiles;
        counts[level] = is_needed ? int(nearest[level] - farthest[level]) : 0;
        is_told[level] = lane >= counts[level];
        // Lanes without a state read that of their own tile.
        places[level] = is_told[level] ? state_place(0, tile)
                                       : state_place(level, (nearest[level] - 1 - lane) * tiles);
        states[level] = identity();
        tiles *= kSpanTiles;
    }
    // The words of all levels are asked for at once if registers hold the states. What a span's last tile tells
    // waits for the tiles alone.
    State before = identity();
    bool is_known = false;  // true if `before` holds states
    #pragma unroll
    for (int level = 0; level < kLevels; ++level) {
        while (!is_told[level]) {
            #pragma unroll
            for (int other = level; other < (sizeof(State) <= 32 ? kLevels : level + 1); ++other) {
                State read;
                const bool is_there = ask_state(words, places[other], tag, read);
                if (!is_told[other] && is_there) {
                    states[other] = read;
                    is_told[other] = true;
                }
            }
        }
        const State farther = level == 2 ? states[level] : join_lanes(states[level], counts[level]);
        if (counts[level] > 0) {
            before = is_known ? join_on_way(farther, before) : farther;
            is_known = true;
        }
        if (lane == 0 && goes_on && level == 0 && is_last_of_span(tile))
            tell_state(words, 1, tile, tag, is_known ? join_on_way(before, own) : own);
        if (lane == 0 && goes_on && level == 2 && is_last_of_stretch(tile))
            tell_state(words, 2, tile, tag, join_on_way(before, own));
    }
    return before;
}

constexpr int kTileItems = kBlockThreads * kItemsPerThread;

// A block takes a tile of consecutive items, by tickets along the way of the scan, so that all tiles before are
// done or under way. Blocks nearly always begin in this order, so a block reads the tile of its own number while
// its ticket is drawn, and another one only if the ticket says so. Threads pass their items twice. The first
// pass finds the run that each thread leaves open. The second pass gives each item its outputs. If the tile
// begins inside of a segment, one warp looks back for the state of that segment between the two passes.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_tiles(Inputs inputs, Segments segments, Results results, u64* ticket, volatile u64* tile_states)
{
    const Segments& ends = segments;
    __shared__ WarpTile tiles[kTileWarps];
    __shared__ u64 taken;
    __shared__ Run of_tile;     // the tile's run; `ends` is true if the scan enters a segment in the tile
    __shared__ bool is_inside;  // true if the tile begins inside of a segment
    __shared__ State carry;     // state of that segment's items in earlier tiles
    __shared__ Index bounds[2];  // the segments of the tile's first and last item
    __shared__ unsigned entries[kEntryWords];
    for (int k = threadIdx.x; k < kEntryWords; k += kBlockThreads)
        entries[k] = 0;
    WarpTile& tile = tiles[threadIdx.x / kWarpThreads];
    u64 drawn = 0;
    if (threadIdx.x == 0)
        drawn = atomicAdd(ticket, 1ull);
    Index turn = Index(blockIdx.x);
    Index tile_begin = 0;
    Index tile_end = 0;
    Own own = {};
    #pragma unroll 1
    for (bool is_guess = true;; is_guess = false) {
        tile_begin = turn * kTileItems;
        tile_end = min(tile_begin + kTileItems, ends.num_items);
        own = own_items(tile_begin, tile_end);
        start_copy(tile, inputs, own);
        if (threadIdx.x < kWarpThreads) {  // each half of the warp searches one
            const bool is_last = threadIdx.x >= kWarpThreads / 2;
            const Index segment = search_ends(ends, i64(is_last ? tile_end : tile_begin + 1), 0);
            if (threadIdx.x % (kWarpThreads / 2) == 0)
                bounds[is_last] = segment;
        }
        if (is_guess && threadIdx.x == 0) {
            taken = drawn;
            // The last ticket sets the lower half to 0 and adds 1 to the launch's number in the upper half.
            if (unsigned(drawn) == gridDim.x - 1u)
                atomicAdd(ticket, (1ull << 32) - gridDim.x);
        }
        __syncthreads();  // thread 0 has written the ticket, and all that the tile needs
        if (turn == Index(unsigned(taken)))
            break;
        turn = Index(unsigned(taken));
        finish_copy();  // so that the tile can be copied to again
    }
    const unsigned tag = unsigned(taken >> 32) + 1u;  // words that no launch has written are 0
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];
    mark_entries(entries, ends, tile_begin, first_segment, last_segment);
    __syncthreads();  // all entries are marked
    const Way way = way_of(entries, int(own.begin - tile_begin));

    finish_copy();
    const Run run = fold_own(inputs, ends, tile, own, way);
    const Run before = block_scan_runs(run);
    if (threadIdx.x == kBlockThreads - 1)
        of_tile = join(before, run);
    __syncthreads();  // the tile's run is written
    if (threadIdx.x < kWarpThreads) {
        // The tile in which the way enters the segment that the tile begins inside of.
        const Index segment_first = segment_begin(ends, first_segment);
        const bool begins_inside = segment_first < tile_begin;
        const Index entry = segment_first / kTileItems;
        const bool goes_on = begins_inside && !of_tile.ends;
        if (threadIdx.x == 0) {
            is_inside = begins_inside;
            tell_state(tile_states, 0, turn, tag, of_tile.total);
            if (!goes_on && is_last_of_span(turn))
                tell_state(tile_states, 1, turn, tag, of_tile.total);
            if (!goes_on && is_last_of_stretch(turn))
                tell_state(tile_states, 2, turn, tag, of_tile.total);
        }
        if (begins_inside) {
            const State state = look_back_states(tile_states, turn, entry, tag, goes_on, of_tile.total);
            if (threadIdx.x == 0)
                carry = state;
        }
    }
    __syncthreads();  // the carry is written

    State state = before.total;
    if (is_inside && !before.ends)
        state = threadIdx.x == 0 ? carry : join_on_way(carry, before.total);
    scan_own(inputs, ends, results, tile, own, way, state);
}
