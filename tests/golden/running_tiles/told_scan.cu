// running_tiles: Running results: equal tiles in one pass, states of open segments by look-back
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// items_per_thread = 4
//
// Exact and not commutative: each output tells the states before its element and with it, and its places.
// operator told_scan(x: u32) -> (hash: u64, power: u64, each told: u64) {
//   state { hash: u64 = 0; power: u64 = 1 }
//   lift {
//     hash = u64(x) * 13787848793156543929 + 1;
//     power = 15074714826142052245;
//   }
//   combine(a, b) {
//     hash = a.hash * b.power + b.hash;
//     power = a.power * b.power;
//   }
//   scan(before, through) through.hash * 31 + before.hash * 7 + u64(x) + u64(index + position * 5 + segment)
// }
//
// Emitted by segfold from kernels/stages/running_tiles.cu; edit that file instead.

using Index = int;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kBlockThreads = 256;
constexpr int kMostBlockThreads = 256;
constexpr int kItemsPerThread = 4;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

struct Inputs {
    const unsigned* x;
};

struct Results {
    u64* hash;
    u64* power;
    u64* told;  // of each element
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

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.hash[segment] = state.hash;
    results.power[segment] = state.power;
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

__device__ __forceinline__ State shuffle(State state, int lane)
{
    state.hash = __shfl_sync(kFullMask, state.hash, lane);
    state.power = __shfl_sync(kFullMask, state.power, lane);
    return state;
}

constexpr int kScanItems = 4;

// The outputs of one element.
struct Scanned {
    u64 told;
};

struct alignas(16) ScanChunk_x {
    unsigned at[4];
};

// kScanItems consecutive elements of the columns that scan reads.
struct ScanItems {
    ScanChunk_x x[1];
};

// Loads `count` elements from the element at `index` on; the others become zero.
__device__ __forceinline__ ScanItems load_scan_items(const Inputs& inputs, Index index, int count)
{
    ScanItems items = {};
    if (count == kScanItems && (unsigned long long)(inputs.x + index) % alignof(ScanChunk_x) == 0) {
        items.x[0] = *(const ScanChunk_x*)(inputs.x + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// What an element gets, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_element(State before, State through, unsigned x, Index index,
    Index position, Index segment)
{
    return {through.hash * 31 + before.hash * 7 + u64(x)
        + u64(i64(u64(index) + u64(position) * 5 + u64(segment)))};
}

// Returns the outputs of element k of `items`, from its segment's states before this element and with it.
__device__ __forceinline__ Scanned scan_item(const Inputs&, const ScanItems& items, int k,
                                             State before, State through, Index index, Index position,
                                             Index segment)
{
    return scan_element(before, through, items.x[k / 4].at[k % 4], index, position, segment);
}

struct alignas(16) OutputChunk_told {
    u64 at[2];
};

// The outputs of kScanItems consecutive elements.
struct ScanOutputs {
    OutputChunk_told told[2];
};

__device__ __forceinline__ void keep_scanned(ScanOutputs& outputs, int k, const Scanned& mapped)
{
    outputs.told[k / 2].at[k % 2] = mapped.told;
}

// Writes the outputs of `count` elements, from the element at `index` on.
__device__ __forceinline__ void store_scanned(const Results& results, Index index, int count,
                                              const ScanOutputs& outputs)
{
    if (count == kScanItems && (unsigned long long)(results.told + index) % alignof(OutputChunk_told) == 0) {
        *(OutputChunk_told*)(results.told + index) = outputs.told[0];
        *(OutputChunk_told*)(results.told + index + 2) = outputs.told[1];
    } else {
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k)
            if (k < count)
                results.told[index + k] = outputs.told[k / 2].at[k % 2];
    }
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

// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(256)
store_empty(Segments segments, Results results)
{
    const Index segment = Index(blockIdx.x) * 256 + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
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

// A segment and the range of its items.
struct Place {
    Index segment;
    Index begin;
    Index end;
};

__device__ __forceinline__ Place place_of(const Segments& segments, Index segment)
{
    return {segment, segment_begin(segments, segment), segment_end(segments, segment)};
}

// Makes `place` the segment of `item`, which is the next item on the way of the scan. The segment is one of
// `first` to `last`.
__device__ __forceinline__ void go_to_item(Place& place, const Segments& segments, Index item, Index first,
                                           Index last)
{
    if (item < place.end)
        return;
    Index segment = place.segment + 1;
    if (segment_end(segments, segment) <= item)  // the segment is empty, as the next ones may be
        segment = find_segment(segments, item, segment, last);
    place = place_of(segments, segment);
}

// True if the scan enters, or leaves, a segment with this item.
__device__ __forceinline__ bool is_entry(const Place& place, Index item) { return item == place.begin; }
__device__ __forceinline__ bool is_exit(const Place& place, Index item) { return item + 1 == place.end; }

// Returns the element of the input that is item `item`, which belongs to segment `place`.
__device__ __forceinline__ Index element_of(const Segments&, const Place&, Index item) { return item; }

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

// Joins the state of the items that a scan has passed with the state of the next items on its way.
__device__ __forceinline__ State join_on_way(State passed, State next)
{
    return combine(passed, next);
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

// States of earlier tiles by decoupled look-back (Merrill & Garland 2016). A tile publishes its state in
// pieces of 32 bits. Each piece has a word that holds, from the top: 30 bits of the launch's number, so that
// words of earlier launches are ignored; 2 bits with one of the values below; the piece. If all words of a
// tile have the same value there, the state is complete, so readers need no fence.
constexpr unsigned kOwnState = 1;    // state of the tile's items; one segment goes through the tile
constexpr unsigned kWholeState = 2;  // state of all items of the segment that is open behind the tile

__device__ __forceinline__ u64 state_word(unsigned launch, unsigned what, unsigned piece)
{
    return u64(launch << 2 | what) << 32 | piece;
}

// Publishes a state of a tile. One lane calls it.
__device__ __forceinline__ void tell_state(volatile u64* words, Index tile, unsigned launch, unsigned what,
                                           const State& state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        words[tile * kStatePieces + k] = state_word(launch, what, pieces.at[k]);
}

// Reads the state that a tile has published. Returns its kind, or 0 until all its words are of one kind.
__device__ __forceinline__ unsigned ask_state(const volatile u64* words, Index tile, unsigned launch,
                                              State& state)
{
    StatePieces pieces;
    unsigned what = 0;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k) {
        const u64 word = words[tile * kStatePieces + k];
        const unsigned tag = unsigned(word >> 32);
        const bool is_own = tag == unsigned(state_word(launch, kOwnState, 0) >> 32);
        const bool is_whole = tag == unsigned(state_word(launch, kWholeState, 0) >> 32);
        const unsigned its_kind = is_own ? kOwnState : is_whole ? kWholeState : 0u;
        what = k == 0 || what == its_kind ? its_kind : 0u;
        pieces.at[k] = unsigned(word);
    }
    state = pieces.state;
    return what;
}

// Returns the state of the segment that is open before `tile` to all lanes of a warp. `tile` is not the first
// tile. Tiles must be taken in their order by running blocks, so that the wait for them ends.
__device__ __noinline__ State look_back_states(const volatile u64* words, Index tile, unsigned launch)
{
    const int lane = threadIdx.x % kWarpThreads;
    Index other = tile - 1 - lane;  // the tile that this lane reads
    State before = identity();
    for (bool is_nearest = true;; is_nearest = false) {
        State state = identity();
        unsigned what = 0;
        unsigned wholes = 0;
        int last = 0;  // the nearest lane with a whole state; 31 if there is none
        for (;;) {
            if (what == 0 && other >= 0)
                what = ask_state(words, other, launch, state);
            wholes = __ballot_sync(kFullMask, what == kWholeState);
            const unsigned known = __ballot_sync(kFullMask, what != 0);
            last = wholes == 0 ? kWarpThreads - 1 : __ffs(int(wholes)) - 1;
            if ((~known & kFullMask >> (kWarpThreads - 1 - last)) == 0)
                break;
        }
        // Lane 0 gets the joined states of all lanes up to `last`, whose tile lies farthest back.
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State farther = shuffle_down(state, delta);
            if (lane + delta <= last)
                state = join_on_way(farther, state);
        }
        state = shuffle(state, 0);
        before = is_nearest ? state : join_on_way(state, before);
        if (wholes != 0)
            return before;
        other -= kWarpThreads;
    }
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    unsigned at[4];
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

constexpr int kTileItems = kBlockThreads * kItemsPerThread;

// A thread takes its items in steps. The kScanItems items of a step are loaded together.
__device__ __forceinline__ Index step_begin(Index begin, int done) { return begin + done; }
__device__ __forceinline__ int step_item(int k) { return k; }

// load_step() loads `count` items from `first` on; lift_step() lifts item `at` of them.
__device__ __forceinline__ Items load_step(const Inputs& inputs, Index first, int count)
{
    return load_items(inputs, first, count);
}
__device__ __forceinline__ State lift_step(const Inputs& inputs, const Items& items, int at, Index index,
                                           Index, Index)
{
    return lift_item(inputs, items, at, index);
}

// A block takes a tile of consecutive items, and a thread takes kItemsPerThread consecutive items of the
// tile.
// Tiles, threads and items follow each other from the first item to the last, which is the way of the scan.
// Blocks take tiles by tickets, along the way of the scan, so that all tiles before are done or under way.
// Threads pass their items twice, and find them in the cache the second time. The first pass finds the run
// that each thread leaves open. The second pass gives each item its outputs. If the tile begins inside of a
// segment, one warp looks back for the state of that segment between the two passes.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_tiles(Inputs inputs, Segments segments, Results results, u64* ticket, volatile u64* tile_states)
{
    __shared__ u64 taken;
    __shared__ Run of_tile;    // the tile's run; `ends` is true if the scan enters a segment in the tile
    __shared__ bool is_inside;  // true if the tile begins inside of a segment
    __shared__ State carry;    // state of that segment's items in earlier tiles
    if (threadIdx.x == 0) {
        taken = atomicAdd(ticket, 1ull);
        // The last ticket sets the lower half to 0 and adds 1 to the launch's number in the upper half.
        if (unsigned(taken) == gridDim.x - 1u)
            atomicAdd(ticket, (1ull << 32) - gridDim.x);
    }
    __syncthreads();  // thread 0 has written the ticket
    const unsigned launch = unsigned(taken >> 32);
    const Index turn = Index(unsigned(taken));
    const Index tile_begin = turn * kTileItems;
    const Index begin = tile_begin + int(threadIdx.x) * kItemsPerThread;
    const Index tile_end = min(tile_begin + kTileItems, segments.num_items);
    const Index end = min(begin + kItemsPerThread, tile_end);
    __shared__ Index bounds[2];  // the segments of the tile's first and last item
    if (threadIdx.x < 2) {
        const Index item = threadIdx.x == 0 ? tile_begin : tile_end - 1;
        bounds[threadIdx.x] = find_segment(segments, item, 0, segments.num_segments - 1);
    }
    __syncthreads();  // both bounds are written
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];

    Place entered = {};  // the segment of the thread's first item on the way
    if (begin < end) {
        const Index item = begin;
        entered = place_of(segments, find_segment(segments, item, first_segment, last_segment));
        if (threadIdx.x == 0)
            is_inside = turn > 0 && !is_entry(entered, item);
    } else if (threadIdx.x == 0) {
        is_inside = false;  // thread 0 lacks items only in the first tile of a reverse scan
    }

    Run run = {identity(), false};
    Place place = entered;
    #pragma unroll 1
    for (int done = 0; done < kItemsPerThread; done += kScanItems) {
        const Index first = step_begin(begin, done);
        const int count = int(max(min(end - first, Index(kScanItems)), Index(0)));
        const auto items = load_step(inputs, first, count);
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = step_item(k);
            if (at >= count)
                continue;
            const Index item = first + at;
            go_to_item(place, segments, item, first_segment, last_segment);
            const State own = lift_step(inputs, items, at, element_of(segments, place, item),
                                        item - place.begin, place.segment);
            const bool enters = is_entry(place, item);
            run = {enters ? own : join_on_way(run.total, own), run.ends || enters};
        }
    }

    const Run before = block_scan_runs(run);
    if (threadIdx.x == kBlockThreads - 1)
        of_tile = join(before, run);
    __syncthreads();  // the tile's run is written
    if (threadIdx.x < kWarpThreads) {
        const bool is_known = of_tile.ends || turn == 0;
        if (threadIdx.x == 0)
            tell_state(tile_states, turn, launch, is_known ? kWholeState : kOwnState, of_tile.total);
        if (is_inside) {
            const State state = look_back_states(tile_states, turn, launch);
            if (threadIdx.x == 0) {
                carry = state;
                if (!is_known)
                    tell_state(tile_states, turn, launch, kWholeState, join_on_way(state, of_tile.total));
            }
        }
    }
    __syncthreads();  // the carry is written

    State state = before.total;
    if (is_inside && !before.ends)
        state = threadIdx.x == 0 ? carry : join_on_way(carry, before.total);
    place = entered;
    #pragma unroll 1
    for (int done = 0; done < kItemsPerThread; done += kScanItems) {
        const Index first = step_begin(begin, done);
        const int count = int(max(min(end - first, Index(kScanItems)), Index(0)));
        const auto items = load_step(inputs, first, count);
        const ScanItems columns = load_scan_items(inputs, first, count);
        ScanOutputs outputs = {};
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = step_item(k);
            if (at >= count)
                continue;
            const Index item = first + at;
            go_to_item(place, segments, item, first_segment, last_segment);
            const Index index = element_of(segments, place, item);
            const Index position = item - place.begin;
            const State own = lift_step(inputs, items, at, index, position, place.segment);
            const bool enters = is_entry(place, item);
            const State passed = enters ? identity() : state;
            state = enters ? own : join_on_way(state, own);
            keep_scanned(outputs, at,
                         scan_item(inputs, columns, at, passed, state, index, position, place.segment));
            if (is_exit(place, item))
                store(results, place.segment, place.end - place.begin, state);
        }
        store_scanned(results, first, count, outputs);
    }
}
