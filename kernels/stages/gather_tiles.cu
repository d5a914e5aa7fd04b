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
constexpr int kRow = kItemsPerThread + 1;  // states, so that lanes that walk rows each meet different banks
constexpr int kProbes = 8;                 // of a lane in a round
constexpr int kAhead = 8;                  // ends that a lane reads at a time
constexpr int kAtOnce = kAhead * kWarpThreads;

// What a block keeps of its tile.
struct Desk {
    State* states;    // rows of the threads that fold: the items, then the run behind each
    State* befores;   // what is open before each row
    unsigned* marks;  // a bit for each item: a segment ends with it
    Index* bounds;    // of the first segments that end in the tile: their begin, then their ends
};

// Lifts the items of a tile, neighbours by neighbouring lanes: what they look up often lies in one line of
// memory. All that a lane looks up is under way at once.
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

// The ends of kAtOnce segments from `first` on, neighbours in neighbouring lanes; behind the last segment
// stands an end that no tile reaches.
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

// How many of the ends are at `place` or before it.
__device__ __forceinline__ int count_ends(const Ends& ends, Index place)
{
    int count = 0;
    #pragma unroll
    for (int k = 0; k < kAhead; ++k)
        count += __popc(__ballot_sync(kFullMask, ends.at[k] <= place));
    return count;
}

// The first segment that ends behind `place`, by a search of the whole warp. It takes a copy of `segments`,
// since every thread would keep in memory what a reference is to.
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

// Marks the ends in the tile. Gives the first segment that ends in it or behind it, and the first one behind.
// Empty segments before the first item end in the first tile. Where the tile began in the launch before is
// looked at first: offsets change seldom, and a search waits for memory three times.
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
    __syncwarp();  // no marks are left, and all lanes have read what was known
    if (lane == 0) {
        *known = first;
        desk.bounds[0] = segment_begin(segments, first);
    }
    Index next = first;
    for (;;) {
        #pragma unroll
        for (int k = 0; k < kAhead; ++k) {
            const Index place = ends.at[k] - begin - 1;  // of the segment's last item
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

// Walks a thread's row and leaves the run behind each item. Gives what is open behind the row.
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

// The part of a segment from `from` to `to` that lies in the tile and ends there.
__device__ __forceinline__ State total_in_tile(const Desk& desk, Index begin, Index from, Index to)
{
    if (to <= max(from, begin))
        return identity();
    const int place = int(to - 1 - begin);
    const State run = desk.states[place / kItemsPerThread * kRow + place % kItemsPerThread];
    const bool began_before_row = from - begin < place / kItemsPerThread * kItemsPerThread;
    return began_before_row ? combine(desk.befores[place / kItemsPerThread], run) : run;
}

// A block takes a tile of consecutive items. All its warps but the last lift them, each thread items that lie
// as far apart as there are threads, and leave them in shared memory; meanwhile the last warp marks where
// segments end. Then each thread walks consecutive items, a scan of the block gives what is open before them,
// and each segment that ends in the tile reads its total where it ends. The last warp brings what is open to
// the tile's borders.
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
    __syncthreads();  // the items and their marks are there

    Run run = {identity(), false};
    if (folds)
        run = fold_row(desk);
    const Run before = block_scan_runs(run);  // for the last warp: what the whole tile leaves open
    if (folds)
        desk.befores[threadIdx.x] = before.total;
    __syncthreads();  // what is open before each row is there

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
    __syncwarp();  // both lanes are back
    meet(borders, segments, results, extent.first, tile - 1, 1, came, ended, head);
    meet(borders, segments, results, extent.end, tile, 0, came, left, before.total);
}
