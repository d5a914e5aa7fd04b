//% stage   gather_tiles
//% title   Equal tiles, a warp beside each finds its ends, borders are joined by whoever comes second
//% after   lean_stream
//% source  Equal tiles: Merrill & Garland 2016. Segmented scan: Sengupta, Harris, Zhang & Owens 2007
//% layout  offsets
//% needs   associative, state_bytes <= 16, !uses_position, !uses_segment
//% tune    block_threads = 160, 96, 288
//% tune    items_per_thread = 8, 4, 16
//% tune    blocks_per_multiprocessor = 6, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 20
//% let     folding = block_threads - 32
//% let     block_bytes = folding * (items_per_thread + 3) * state_bytes + folding * (index_bytes + 2) + 1024
//% where   block_bytes <= 49152
//% let     is_large = cc == 80 || cc == 90 || cc == 100 || cc == 103
//% let     most_resident = cc == 75 ? 1024 : is_large ? 2048 : 1536
//% where   block_threads * blocks_per_multiprocessor <= most_resident
//% where   block_bytes * blocks_per_multiprocessor <= block_shared_bytes
//% let     tile_items = (block_threads - 32) * items_per_thread
//% let     num_tiles = num_segments == 0 ? 0 : max(1, ceil_div(num_items, tile_items))
//% scratch border_words : u64[num_tiles] zero
//% scratch border_rest : u64[2 * num_tiles * max(1, ceil_div(state_bytes, 4) - 1)] zero
//% scratch first_segments : Index[num_tiles] zero
//% launch  fold_tiles  grid = num_tiles  block = block_threads
//% use     parts/reduce/block_scan_runs.cuh
//% use     parts/tiles/borders.cuh

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
//% if at_launch
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1)
//% else
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, kBlocksPerMultiprocessor)
//% end
fold_tiles(Inputs inputs,
           Segments segments,
           Results results,
           //% number block_threads
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
