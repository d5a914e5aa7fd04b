// tile_scan: Equal tiles, a segmented scan in each block, carries fixed up in parallel
// Segments given as offsets, 32-bit indices.
// block_threads = 256
// items_per_thread = 8
//
// Mean and population variance, merged pairwise, as accurate far from 0 as near it.
// The mean is kept in two parts (compensated),
//     so that no digit of a difference from it is lost. On an H200 that takes
// 1.00 to 1.25 of the time of welford_mean_variance,
//     of f64 up to 1.45. A variance that leaves the type's range is inf.
// With an infinity or NaN among the values the mean is what their sum is: inf,
//     -inf or NaN; the variance is NaN.
// operator mean_variance(x: f32) -> (mean: f32, variance: f32) {
//   state { n: i64 = 0; mean: f32 = 0; low: f32 = 0; m2: f32 = 0 }
//   lift {
//     n = 1;
//     mean = x;
//     low = 0;
//     m2 = 0;
//   }
//   combine(a, b) {
//     let total = a.n + b.n;
//     let share = f32(b.n) * (1 / f32(total));
//     let delta = b.mean - a.mean + (b.low - a.low);
//     let step = delta * share;
//     let sum = a.mean + step;
//     n = total;
//     mean = a.n == 0 ? b.mean : b.n == 0 ? a.mean : isfinite(sum) ? sum : a.mean * (1 - share) + b.mean
//         * share;
//     low = a.n == 0 ? b.low : b.n == 0 ? a.low : a.low + (step - (sum - a.mean));
//     m2 = a.n == 0 ? b.m2 : b.n == 0 ? a.m2 : a.m2 + b.m2 + delta * (step * f32(a.n));
//   }
//   append(a) {
//     let total = a.n + 1;
//     let share = 1 / f32(total);
//     let rest = 1 - share;
//     let delta = x - a.mean - a.low;
//     let step = delta * share;
//     let sum = a.mean + step;
//     n = total;
//     mean = isfinite(sum) ? sum : a.mean * rest + x * share;
//     low = a.low + (step - (sum - a.mean));
//     m2 = a.m2 + delta * (delta * rest);
//   }
//   finish {
//     mean = isfinite(low) ? mean + low : mean;
//     variance = !isfinite(mean) ? nan : isfinite(m2) ? m2 / f32(n) : inf;
//   }
//   empty {
//     mean = nan;
//     variance = nan;
//   }
//   laws commutative
// }
//
// States keep n in 32 bits, as indices are; results have all bits.
//
// Emitted by segfold from kernels/stages/tile_scan.cu; edit that file instead.

using Index = int;
using i64 = long long;

constexpr int kMostBlockThreads = 256;
constexpr int block_threads = 256;
constexpr int items_per_thread = 8;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;
constexpr float kInfinity = __builtin_bit_cast(float, 0x7f800000u);
constexpr float kNan = __builtin_bit_cast(float, 0x7fffffffu);

// Its value; compilers do not see where it comes from, for they lose the wrap of some arithmetic.
__device__ __forceinline__ int opaque(int x)
{
    asm("" : "+r"(x));
    return x;
}

// 1 / y for a whole number y, the bits of any division. It does without a division's slow path: no whole
// number is so small or so great that one step of Newton's from the hardware's reciprocal would round
// otherwise.
__device__ __forceinline__ float divide_one(float y)
{
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(y));
    const float nearest = fmaf(fmaf(-y, near, 1.0f), near, near);
    return y == 0.0f ? near : nearest;
}

struct Inputs {
    const float* x;
};

struct Results {
    float* mean;
    float* variance;
};

struct State {
    int n;
    float mean;
    float low;
    float m2;
};

__device__ __forceinline__ State identity()
{
    return {0, 0.0f, 0.0f, 0.0f};
}

__device__ __forceinline__ State lift(float x)
{
    return {1, x, 0.0f, 0.0f};
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    const int total = int(unsigned(a.n) + unsigned(b.n));
    const float share = float(b.n) * divide_one(float(total));
    const float delta = b.mean - a.mean + (b.low - a.low);
    const float step = delta * share;
    const float sum = a.mean + step;
    return {
        total,
        a.n == 0 ? b.mean : b.n == 0 ? a.mean : isfinite(sum) ? sum : a.mean * (1.0f - share) + b.mean
            * share,
        a.n == 0 ? b.low : b.n == 0 ? a.low : a.low + (step - (sum - a.mean)),
        a.n == 0 ? b.m2 : b.n == 0 ? a.m2 : a.m2 + b.m2 + delta * (step * float(a.n)),
    };
}

// Finishes the total of a segment and writes its results.
__device__ __forceinline__ void store(const Results& results, Index segment, Index length, State state)
{
    if (length == 0) {
        results.mean[segment] = kNan;
        results.variance[segment] = kNan;
        return;
    }
    results.mean[segment] = isfinite(state.low) ? state.mean + state.low : state.mean;
    results.variance[segment] = !isfinite(state.mean) ? kNan : isfinite(state.m2)
        ? state.m2 / float(i64(opaque(state.n))) : kInfinity;
}

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    state.n = __shfl_up_sync(kFullMask, state.n, delta);
    state.mean = __shfl_up_sync(kFullMask, state.mean, delta);
    state.low = __shfl_up_sync(kFullMask, state.low, delta);
    state.m2 = __shfl_up_sync(kFullMask, state.m2, delta);
    return state;
}

// Segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// The segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// One past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1];
}

// The segment that holds `item`, known to be one of `first` to `last`.
// It is the last segment that begins at or before the item, so empty ones are passed over.
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

// What is known of consecutive items: whether a segment ends among them, and the total of those after the
// last end, which is the total of all where none ends.
struct Run {
    State total;
    bool ends;
};

// The segmented operator: associative as combine() is, and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
}

// Gives each lane the run of the lanes up to it, itself included.
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

// Gives each thread the run of the threads before it.
// Neither inlined nor unrolled: it runs once a tile, and one small copy halves the time to compile.
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
    __syncthreads();  // the runs of all warps are there
    Run earlier = {identity(), false};
    #pragma unroll 1
    for (int other = 0; other < warp; ++other)
        earlier = join(earlier, warp_runs[other]);
    __syncthreads();  // all have been read, the next call may write them
    return join(earlier, before);
}

// A block takes one tile of consecutive items, a thread items_per_thread consecutive ones of it. Segments
// that begin and end in one thread are stored at once. A segment that ends in a thread but began before it
// gets the total of the threads between; if it began before the tile, its part in this tile becomes the
// tile's head and waits for fix_up.
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
    __syncthreads();  // both bounds are there
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];

    const Index begin = tile_begin + threadIdx.x * items_per_thread;
    const Index end = min(begin + items_per_thread, tile_end);
    Run run = {identity(), false};
    State head = identity();  // total up to the first segment end in this thread
    Index head_segment = 0;
    Index head_begin = 0;
    if (begin < end) {
        Index segment = find_segment(segments, begin, first_segment, last_segment);
        Index from = segment_begin(segments, segment);
        Index to = segment_end(segments, segment);
        // A thread's items share a sector or two of memory, so rolled up the loop waits for few loads.
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
                if (segment_end(segments, segment) == item + 1)  // empty: look for the next that is not
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
            head_segments[blockIdx.x] = segments.num_segments;  // no segment ends here, none waits
    }
}

// A group is as many consecutive tiles as a block has threads; its run is what later groups need to know.
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

// Every block joins the runs of the groups before its own, then scans its own tiles; a tile whose head
// waits gets the total of all items between the head's segment begin and the tile.
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
    const Run inside = block_scan_runs(run);  // its barriers show the carry to all threads
    const Run before = join(carry, inside);
    if (!is_tile || head_segments[tile] == segments.num_segments)
        return;
    const Index segment = head_segments[tile];
    const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
    store(results, segment, length, combine(before.total, tile_heads[tile]));
}

// Empty segments have no items, so no tile knows of them.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
store_empty(Segments segments,
            Results results)
{
    const Index segment = Index(blockIdx.x) * block_threads + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
}
