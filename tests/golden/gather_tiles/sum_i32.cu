// gather_tiles: Equal tiles, a warp beside each finds its ends, borders are joined by whoever comes second
// Segments given as offsets, 32-bit indices.
// block_threads = 288
// blocks_per_multiprocessor = 7
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
// Emitted by segfold from kernels/stages/gather_tiles.cu; edit that file instead.

using Index = int;
using u64 = unsigned long long;

constexpr int kMostBlockThreads = 288;
constexpr int kBlocksPerMultiprocessor = 7;
constexpr int kItemsPerThread = 8;
constexpr int block_threads = 288;
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

// Two neighbouring tiles meet at a border: the earlier one may leave a segment open, and the later one may
// end it. The block that comes second joins both. No block waits for another, so blocks may run in any order.
constexpr unsigned kHead = 1;     // of the later tile: items up to its first end; their segment began earlier
constexpr unsigned kNoHead = 2;   // of the later tile: no segment is cut at this border
constexpr unsigned kWaiting = 3;  // of the later tile: an end that waits; above kWhat, `behind` of wait_at()
constexpr unsigned kThrough = 4;  // of the earlier tile: all its items; no segment ends in it
constexpr unsigned kBegun = 5;    // of the earlier tile: items behind its last end; or the whole first tile
constexpr unsigned kWhat = 7;     // mask of these kinds
constexpr int kWhatBits = 3;
constexpr int kRest = kStatePieces - 1;  // pieces of a state that do not fit into the border's word

// Border k lies between tiles k and k + 1. Its word is 0 until a block comes, and again after the second
// block has come. The word's upper half is the kind of the state that came; the lower half is the state's
// first piece. The words of the other pieces have the same form.
struct Borders {
    volatile u64* words;
    volatile u64* rest;  // 2 * kRest for each border: pieces of the earlier tile, then of the later one
};

// The state that the first block left at a border.
struct Came {
    unsigned what;  // the kind of the state; 0 if no block has come
    State state;
};

__device__ __forceinline__ Came put_together(const u64 (&words)[kStatePieces])
{
    StatePieces pieces;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        pieces.at[k] = unsigned(words[k]);
    return {unsigned(words[0] >> 32), pieces.state};
}

// Brings a state to a border. The first block to come gets nothing. The second block gets the other block's
// state, and sets the words to 0 for the next launch. One lane calls it.
__device__ __forceinline__ Came bring(const Borders& borders, Index border, unsigned what, State state)
{
    const int side = what <= kNoHead ? 1 : 0;
    volatile u64* const own_rest = borders.rest + (2 * border + side) * kRest;
    volatile u64* const other_rest = borders.rest + (2 * border + 1 - side) * kRest;
    const StatePieces pieces = pieces_of(state);
    u64 came[kStatePieces];
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        came[k] = other_rest[k - 1];  // under way while the words are exchanged
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        own_rest[k - 1] = u64(what) << 32 | pieces.at[k];
    came[0] = atomicExch(const_cast<u64*>(borders.words) + border, u64(what) << 32 | pieces.at[0]);
    if (came[0] != 0) {
        borders.words[border] = 0;
        #pragma unroll
        for (int k = 1; k < kStatePieces; ++k) {
            while (came[k] == 0)
                came[k] = other_rest[k - 1];
            own_rest[k - 1] = 0;
            other_rest[k - 1] = 0;
        }
    }
    return put_together(came);
}

// Puts the state of the earlier tile back to a border, as if no later tile had come. One lane calls it.
__device__ __forceinline__ void leave(const Borders& borders, Index border, unsigned what, State state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        borders.rest[2 * border * kRest + k - 1] = u64(what) << 32 | pieces.at[k];
    borders.words[border] = u64(what) << 32 | pieces.at[0];
}

// Lets the end of a segment wait at the border of a tile that has not come. This border lies `behind` borders
// before the end's group. Returns false if the tile has come meanwhile. One lane calls it.
__device__ __forceinline__ bool wait_at(const Borders& borders, Index border, int behind, State end)
{
    volatile u64* const rest = borders.rest + (2 * border + 1) * kRest;
    const StatePieces pieces = pieces_of(end);
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        rest[k - 1] = u64(kWaiting) << 32 | pieces.at[k];
    const u64 word = u64(kWaiting | unsigned(behind) << kWhatBits) << 32 | pieces.at[0];
    if (atomicCAS(const_cast<u64*>(borders.words) + border, u64(0), word) == 0)
        return true;
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        rest[k - 1] = 0;
    return false;
}

// Joins the end of `segment` with all tiles before border `border + 1`, back to the segment's begin, and
// stores the segment. Tiles are joined in groups of a warp's size, counted from the segment's end, so the
// order of combination does not depend on when tiles come. If a tile of the group has not come to its border,
// the end waits there, and that tile's block joins the whole group. A whole warp calls it. Parameters are
// copies: references would force every thread to keep their objects in memory.
__device__ __noinline__ void join_back(Borders borders,
                                       Segments segments,
                                       Results results,
                                       Index segment,
                                       Index border,
                                       State end)
{
    const int lane = threadIdx.x % kWarpThreads;
    while (border >= 0) {  // no segment begins before the first tile
        // Each lane takes a tile of the group; lane 0 takes the nearest.
        const int num_tiles = int(min(border + 1, Index(kWarpThreads)));
        const Index mine = border - lane;
        u64 words[kStatePieces];
        bool is_there = true;
        #pragma unroll
        for (int k = kRest; k >= 0; --k) {
            words[k] = 0;
            if (lane < num_tiles)
                words[k] = k == 0 ? borders.words[mine] : borders.rest[2 * mine * kRest + k - 1];
            is_there = is_there && words[k] != 0;
        }
        const Came came_before = put_together(words);
        const unsigned missing = __ballot_sync(kFullMask, !is_there);  // lanes without a word or a tile
        const unsigned begun = __ballot_sync(kFullMask, is_there && came_before.what == kBegun);
        const int first = begun != 0 ? __ffs(int(begun)) - 1 : kWarpThreads;
        const int taken = min(num_tiles, first + 1);
        const int there = missing != 0 ? __ffs(int(missing)) - 1 : kWarpThreads;
        if (there < taken) {
            const bool waits = lane == 0 && wait_at(borders, border - there, there, end);
            if (__shfl_sync(kFullMask, int(waits), 0) != 0)
                return;
            continue;
        }
        State run = identity();
        if (lane < taken) {
            run = came_before.state;
            borders.words[mine] = 0;
            #pragma unroll
            for (int k = 1; k < kStatePieces; ++k)
                borders.rest[2 * mine * kRest + k - 1] = 0;
        }
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_down(run, delta);
            if (lane + delta < kWarpThreads)
                run = combine(earlier, run);
        }
        end = combine(shuffle(run, 0), end);
        border -= taken;
        if (first < kWarpThreads) {
            if (lane == 0) {
                const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
                store(results, segment, length, end);
            }
            return;
        }
    }
}

// Meets the tile that came to `border` first. Lane `caller` has brought `state`, of kind `what`, and has got
// `came`. A whole warp calls it.
__device__ __forceinline__ void meet(const Borders& borders,
                                     const Segments& segments,
                                     const Results& results,
                                     Index segment,
                                     Index border,
                                     int caller,
                                     const Came& came,
                                     unsigned what,
                                     State state)
{
    const unsigned other_what = __shfl_sync(kFullMask, came.what, caller);
    if (other_what == 0 || other_what == kNoHead || what == kNoHead)
        return;
    const State other = shuffle(came.state, caller);
    const bool has_waited = (other_what & kWhat) == kWaiting;
    if (has_waited && threadIdx.x % kWarpThreads == caller)
        leave(borders, border, what, state);
    __syncwarp();  // all lanes see the state that was put back
    State end = what == kHead ? combine(other, state) : combine(state, other);
    end = has_waited ? other : end;
    const Index from = has_waited ? border + Index(other_what >> kWhatBits) : border - 1;
    const unsigned before = what == kHead ? other_what : what;
    if (has_waited || before == kThrough)
        join_back(borders, segments, results, segment, from, end);
    else if (threadIdx.x % kWarpThreads == 0)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), end);
}

constexpr int kMostFolding = kMostBlockThreads - kWarpThreads;  // threads that fold; the last warp finds ends
constexpr int kRow = kItemsPerThread + 1;  // one place more, so that lanes walk rows in different banks
constexpr int kProbes = 8;                 // ends that a lane tests in a round of a search
constexpr int kAhead = 8;                  // ends that a lane reads at once
constexpr int kAtOnce = kAhead * kWarpThreads;

// A block's tile in shared memory.
struct Desk {
    State* states;    // a row for each folding thread: its items, later the run behind each item
    State* befores;   // for each row, the run that is open before it
    unsigned* marks;  // a bit for each item: 1 if a segment ends with it
    Index* bounds;    // begin of the first segment that ends in the tile, then ends from that segment on
};

// Lifts the items of a tile. Neighbouring lanes lift neighbouring items, whose lookups often lie in one line
// of memory. All lookups of a lane are under way at once.
__device__ __forceinline__ void lift_items(const Inputs& inputs,
                                           const Desk& desk,
                                           Index begin,
                                           Index end,
                                           int folding)
{
    const int thread = threadIdx.x;
    if (begin + folding * kItemsPerThread <= end) {
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            items[k] = load_item(inputs, begin + k * folding + thread, 0, 0);
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const int place = k * folding + thread;
            desk.states[place / kItemsPerThread * kRow + place % kItemsPerThread] = items[k];
        }
        return;
    }
    #pragma unroll 1
    for (int place = thread; place < folding * kItemsPerThread; place += folding) {
        State item = identity();
        if (begin + place < end)
            item = load_item(inputs, begin + place, 0, 0);
        desk.states[place / kItemsPerThread * kRow + place % kItemsPerThread] = item;
    }
}

// The ends of kAtOnce consecutive segments, neighbouring ends in neighbouring lanes. Behind the last segment
// an end is kNever, which no tile reaches.
struct Ends {
    Index at[kAhead];
};
constexpr Index kNever = Index(~(1ull << (8 * sizeof(Index) - 1)));

__device__ __forceinline__ Ends read_ends(const Segments& segments, Index first)
{
    Ends ends;
    #pragma unroll
    for (int k = 0; k < kAhead; ++k) {
        const Index segment = first + k * kWarpThreads + Index(threadIdx.x % kWarpThreads);
        ends.at[k] = segment < segments.num_segments ? segment_end(segments, segment) : kNever;
    }
    return ends;
}

// Counts the ends that lie at `place` or before it.
__device__ __forceinline__ int count_ends(const Ends& ends, Index place)
{
    int count = 0;
    #pragma unroll
    for (int k = 0; k < kAhead; ++k)
        count += __popc(__ballot_sync(kFullMask, ends.at[k] <= place));
    return count;
}

// Returns the first segment that ends behind `place`. The whole warp searches. `segments` is a copy: a
// reference would force every thread to keep the object in memory.
__device__ __noinline__ Index find_first(Segments segments, Index place)
{
    const Index lane = threadIdx.x % kWarpThreads;
    Index low = 0;  // the answer is one of low to high
    Index high = segments.num_segments - 1;
    while (low < high) {
        const Index step = (high - low) / (kWarpThreads * kProbes) + 1;
        bool before[kProbes];
        #pragma unroll
        for (int k = 0; k < kProbes; ++k) {
            const Index probe = low + (k * kWarpThreads + lane) * step;
            before[k] = probe < high && segment_end(segments, probe) <= place;
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kProbes; ++k)
            count += __popc(__ballot_sync(kFullMask, before[k]));
        high = count > 0 ? min(high, low + count * step) : low;
        low = count > 0 ? low + (count - 1) * step + 1 : low;
    }
    return low;
}

// Marks the ends in the tile. Returns the first segment that ends in the tile or behind it, and the first one
// that ends behind it. Empty segments before the first item count as ends of the first tile. `known` is the
// tile's first segment in the launch before. It is tried first, because offsets seldom change and a search
// waits for memory three times.
struct Extent {
    Index first;
    Index end;
};
__device__ __forceinline__ Extent mark_ends(const Segments& segments,
                                            const Desk& desk,
                                            Index begin,
                                            Index end,
                                            int folding,
                                            Index* known)
{
    const int lane = threadIdx.x % kWarpThreads;
    Index first = min(*known, segments.num_segments - 1);
    Ends ends = read_ends(segments, first);
    const Index from = segment_begin(segments, first);
    const bool is_known = from <= begin && __shfl_sync(kFullMask, ends.at[0], 0) > begin;
    if (begin > 0 && !is_known) {
        first = find_first(segments, begin);
        ends = read_ends(segments, first);
    }
    #pragma unroll 1
    for (int k = lane; k < folding * kItemsPerThread / 32; k += kWarpThreads)
        desk.marks[k] = 0;
    __syncwarp();  // all marks are 0, and all lanes have read `known`
    if (lane == 0) {
        *known = first;
        desk.bounds[0] = segment_begin(segments, first);
    }
    Index next = first;
    for (;;) {
        #pragma unroll
        for (int k = 0; k < kAhead; ++k) {
            const Index place = ends.at[k] - begin - 1;  // place of the segment's last item in the tile
            const Index number = next - first + k * kWarpThreads + lane;
            if (number < folding)
                desk.bounds[1 + number] = ends.at[k];
            if (ends.at[k] > begin && ends.at[k] <= end)
                atomicOr(desk.marks + place / 32, 1u << place % 32);
        }
        const int count = count_ends(ends, end);
        next += count;
        if (count < kAtOnce)
            return {first, next};
        ends = read_ends(segments, next);
    }
}

// Walks a thread's row and writes the run behind each item. Returns the run that is open behind the row.
__device__ __forceinline__ Run fold_row(const Desk& desk)
{
    const int bit = threadIdx.x * kItemsPerThread;
    const unsigned ends = desk.marks[bit / 32] >> bit % 32 & ((1u << kItemsPerThread) - 1u);
    State* const row = desk.states + threadIdx.x * kRow;
    State run = identity();
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k) {
        const State item = row[k];
        run = k == 0 || (ends >> (k - 1) & 1u) != 0 ? item : combine(run, item);
        row[k] = run;
    }
    return {(ends >> (kItemsPerThread - 1) & 1u) != 0 ? identity() : run, ends != 0};
}

// Returns the total of a segment's items in the tile that begins at `begin`. The segment holds the items
// `from` to `to` - 1 and ends in the tile.
__device__ __forceinline__ State total_in_tile(const Desk& desk, Index begin, Index from, Index to)
{
    if (to <= max(from, begin))
        return identity();
    const int place = int(to - 1 - begin);
    const State run = desk.states[place / kItemsPerThread * kRow + place % kItemsPerThread];
    const bool began_before_row = from - begin < place / kItemsPerThread * kItemsPerThread;
    return began_before_row ? combine(desk.befores[place / kItemsPerThread], run) : run;
}

// A block takes a tile of consecutive items. All its warps but the last lift the items into shared memory;
// the items of a thread are as far apart as there are folding threads. Meanwhile the last warp marks where
// segments end. Then each thread walks a row of consecutive items, and a scan of the block finds the run that
// is open before each row. Each segment that ends in the tile reads its total at its last item. The last warp
// brings the states that are open to the tile's borders.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, kBlocksPerMultiprocessor)
fold_tiles(Inputs inputs,
           Segments segments,
           Results results,
           volatile u64* border_words,
           volatile u64* border_rest,
           Index* first_segments)
{
    __shared__ State states[kMostFolding * kRow];
    __shared__ State befores[kMostFolding];
    __shared__ unsigned marks[kMostFolding * kItemsPerThread / 32];
    __shared__ Index bounds[kMostFolding + 1];
    __shared__ Extent extent;
    const Desk desk = {states, befores, marks, bounds};
    const int folding = block_threads - kWarpThreads;
    const bool folds = int(threadIdx.x) < folding;
    const Index tile = blockIdx.x;
    const Index begin = tile * (folding * kItemsPerThread);
    const Index end = min(begin + folding * kItemsPerThread, segments.num_items);
    if (folds) {
        lift_items(inputs, desk, begin, end, folding);
    } else {
        const Extent found = mark_ends(segments, desk, begin, end, folding, first_segments + tile);
        if (threadIdx.x % kWarpThreads == 0)
            extent = found;
    }
    __syncthreads();  // the items and the marks are written

    Run run = {identity(), false};
    if (folds)
        run = fold_row(desk);
    const Run before = block_scan_runs(run);  // in the last warp: the run of the whole tile
    if (folds)
        desk.befores[threadIdx.x] = before.total;
    __syncthreads();  // the runs before all rows are written

    const bool is_cut = bounds[0] < begin;
    if (folds) {
        #pragma unroll 1
        for (Index segment = extent.first + Index(threadIdx.x); segment < extent.end; segment += folding) {
            const Index number = segment - extent.first;
            const Index from = number <= folding ? bounds[number] : segment_begin(segments, segment);
            const Index to = number < folding ? bounds[number + 1] : segment_end(segments, segment);
            if (number > 0 || !is_cut)
                store(results, segment, to - from, total_in_tile(desk, begin, from, to));
        }
        return;
    }

    const Borders borders = {border_words, border_rest};
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned left = before.ends || tile == 0 ? kBegun : kThrough;
    const bool has_head = is_cut && extent.first < extent.end;
    const unsigned ended = has_head ? kHead : kNoHead;
    State head = identity();
    if (has_head)
        head = total_in_tile(desk, begin, bounds[0], bounds[1]);
    Came came = {};
    if (lane == 0 && tile + 1 < Index(gridDim.x))
        came = bring(borders, tile, left, before.total);
    if (lane == 1 && tile > 0 && before.ends)
        came = bring(borders, tile - 1, ended, head);
    __syncwarp();  // both lanes have brought their states
    meet(borders, segments, results, extent.first, tile - 1, 1, came, ended, head);
    meet(borders, segments, results, extent.end, tile, 0, came, left, before.total);
}
