// tile_scan: Equal tiles, a segmented scan in each block, carries fixed up in parallel
// Segments given as offsets, 32-bit indices.
// block_threads = 256
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
// Emitted by segfold from kernels/stages/tile_scan.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 256;
constexpr int block_threads = 256;
constexpr int items_per_thread = 8;
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

// A block takes one tile of consecutive items, and a thread takes items_per_thread consecutive items of the
// tile. A segment that begins and ends in one thread is stored at once. A segment that began in an earlier
// thread is joined with the totals of the threads between. If it began before the tile, its part in this tile
// becomes the tile's head, which waits for fix_up.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
scan_tiles(Inputs inputs,
           Segments segments,
           Results results,
           State* tile_heads,
           Index* head_segments,
           State* tile_totals,
           bool* tile_ends)
{
    const Index tile_items = block_threads * items_per_thread;
    const Index tile_begin = Index(blockIdx.x) * tile_items;
    const Index tile_end = min(tile_begin + tile_items, segments.num_items);
    __shared__ Index bounds[2];  // the segments of the tile's first and last item
    if (threadIdx.x < 2) {
        const Index item = threadIdx.x == 0 ? tile_begin : tile_end - 1;
        bounds[threadIdx.x] = find_segment(segments, item, 0, segments.num_segments - 1);
    }
    __syncthreads();  // both bounds are written
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];

    const Index begin = tile_begin + threadIdx.x * items_per_thread;
    const Index end = min(begin + items_per_thread, tile_end);
    Run run = {identity(), false};
    State head = identity();  // total of the thread's items up to the first end of a segment
    Index head_segment = 0;
    Index head_begin = 0;
    if (begin < end) {
        Index segment = find_segment(segments, begin, first_segment, last_segment);
        Index from = segment_begin(segments, segment);
        Index to = segment_end(segments, segment);
        // A thread's items lie in one or two sectors of memory. So the loop waits for few loads, although it
        // is not unrolled.
        #pragma unroll 1
        for (Index item = begin; item < end; ++item) {
            const Index position = item - from;
            run.total = combine(run.total, load_item(inputs, item, position, segment));
            if (item + 1 < to)
                continue;

            if (run.ends) {
                store(results, segment, to - from, run.total);
            } else {
                head = run.total;
                head_segment = segment;
                head_begin = from;
            }
            run = {identity(), true};
            if (item + 1 < end) {
                ++segment;
                if (segment_end(segments, segment) == item + 1)  // empty: finds the next segment with items
                    segment = find_segment(segments, item + 1, segment, last_segment);
                from = item + 1;
                to = segment_end(segments, segment);
            }
        }
    }

    const Run before = block_scan_runs(run);
    if (run.ends) {
        const Index length = segment_end(segments, head_segment) - head_begin;
        const bool waits = !before.ends && head_begin < tile_begin;
        head = combine(before.total, head);
        if (waits)
            tile_heads[blockIdx.x] = head;
        else
            store(results, head_segment, length, head);
        if (!before.ends)
            head_segments[blockIdx.x] = waits ? head_segment : segments.num_segments;
    }
    if (threadIdx.x == block_threads - 1) {
        const Run tile = join(before, run);
        tile_totals[blockIdx.x] = tile.total;
        tile_ends[blockIdx.x] = tile.ends;
        if (!tile.ends)
            head_segments[blockIdx.x] = segments.num_segments;  // no segment ends here, so no head waits
    }
}

// A group consists of block_threads consecutive tiles. This joins their runs to the run of the group.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce_groups(Segments segments,
              const State* tile_totals,
              const bool* tile_ends,
              State* group_totals,
              bool* group_ends)
{
    const Index tile = Index(blockIdx.x) * block_threads + threadIdx.x;
    Run run = {identity(), false};
    const bool is_tile = tile * (block_threads * items_per_thread) < segments.num_items;
    if (is_tile)
        run = {tile_totals[tile], tile_ends[tile]};
    const Run before = block_scan_runs(run);
    if (threadIdx.x == block_threads - 1) {
        const Run group = join(before, run);
        group_totals[blockIdx.x] = group.total;
        group_ends[blockIdx.x] = group.ends;
    }
}

// Each block joins the runs of all earlier groups, then scans the tiles of its own group. If the head of a
// tile waits, it is joined with the total of all items from its segment's begin to the tile.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
fix_up(Segments segments,
       Results results,
       const State* tile_heads,
       const Index* head_segments,
       const State* tile_totals,
       const bool* tile_ends,
       const State* group_totals,
       const bool* group_ends)
{
    const int share = (int(blockIdx.x) + block_threads - 1) / block_threads;
    Run run = {identity(), false};
    #pragma unroll 1
    for (int k = 0; k < share; ++k) {
        const int group = threadIdx.x * share + k;
        if (group < int(blockIdx.x))
            run = join(run, {group_totals[group], group_ends[group]});
    }
    __shared__ Run carry;
    const Run earlier = block_scan_runs(run);
    if (threadIdx.x == block_threads - 1)
        carry = join(earlier, run);

    const Index tile = Index(blockIdx.x) * block_threads + threadIdx.x;
    run = {identity(), false};
    const bool is_tile = tile * (block_threads * items_per_thread) < segments.num_items;
    if (is_tile)
        run = {tile_totals[tile], tile_ends[tile]};
    const Run inside = block_scan_runs(run);  // its barriers make the carry visible to all threads
    const Run before = join(carry, inside);
    if (!is_tile || head_segments[tile] == segments.num_segments)
        return;
    const Index segment = head_segments[tile];
    const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
    store(results, segment, length, combine(before.total, tile_heads[tile]));
}

// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
store_empty(Segments segments,
            Results results)
{
    const Index segment = Index(blockIdx.x) * block_threads + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
}
