// group_or_grid: Groups of lanes reduce short segments, warps longer ones, all blocks together the longest
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 8
// lanes_per_segment = 8
// long_items = 1024
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/group_or_grid.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 8;
constexpr int block_threads = 128;
constexpr int lanes_per_segment = 8;
constexpr int long_items = 1024;
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

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    int at[4];
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

// Folds the first `count` of the kItemsPerThread elements from `index` on, in their order. `position` is the
// place of the first element in `segment`.
__device__ __forceinline__ State fold_consecutive(const Inputs& inputs,
                                                  Index index,
                                                  Index position,
                                                  Index segment,
                                                  Index count)
{
    State total = identity();
    // Reads vectors if the address allows. Element by element, a warp would read each line of memory many
    // times.
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int items_there = int(max(min(count, Index(kItemsPerThread)), Index(0)));
    Items items[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k)
        items[k] = load_items(inputs, index + k * kStepItems, items_there - k * kStepItems);
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k)
        if (k < items_there)
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index + k));
    return total;
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

// What the lanes of a group fold together: `length` items from `first` on, of a segment that begins at
// `origin`.
struct Turn {
    Index segment;
    Index origin;
    Index first;
    Index length;
};

// The lower half of a warp finds what of the block's slice belongs to a long segment that began before it or
// with it, the upper half what belongs to one that begins later; perhaps nothing.
__device__ __forceinline__ Turn find_piece(const Segments& segments, Index slice, Index longest)
{
    const bool is_lower = threadIdx.x % kWarpThreads < kWarpThreads / 2;
    const Index begin = min(Index(blockIdx.x) * slice, segments.num_items);
    const Index end = min(begin + slice, segments.num_items);
    if (begin == end)
        return {0, 0, 0, 0};
    const Index item = is_lower ? begin : end - 1;
    const Index segment = search_ends(segments, (long long)item + 1, 0);
    const Index origin = segment_begin(segments, segment);
    const Index last = segment_end(segments, segment);
    const bool is_mine = last - origin > longest && is_lower == (origin <= begin);
    const Index first = max(origin, begin);
    return {segment, origin, first, is_mine ? min(last, end) - first : 0};
}

// Joins the pieces of a long segment if this block's was the last to be ready. Lane 0 has the block's piece,
// which is number `k` of its slice.
__device__ __forceinline__ void join_pieces(const Segments& segments,
                                            const Results& results,
                                            State* pieces,
                                            unsigned* tickets,
                                            Turn piece,
                                            int k,
                                            State total,
                                            Index slice)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index length = segment_end(segments, piece.segment) - piece.origin;
    const int first_block = int(piece.origin / slice);  // no other long segment has it as its first
    const int others = int((piece.origin + length - 1) / slice) - first_block;
    bool is_last = false;
    if (lane == 0) {
        pieces[2 * blockIdx.x + k] = total;
        __threadfence();  // the piece is seen before the ticket is
        // Wraps to 0, ready for the next launch.
        is_last = atomicInc(tickets + first_block, others) == unsigned(others);
    }
    if (!__any_sync(kFullMask, is_last))
        return;
    __syncwarp();     // lane 0 has its ticket
    __threadfence();  // the other pieces are read after their tickets
    // The piece in which a segment begins is its block's second, unless it begins with the slice.
    const int begins_late = piece.origin % slice != 0;
    const int share = others / kWarpThreads + 1;
    const int end = min((lane + 1) * share, others + 1);
    total = identity();
    #pragma unroll 4
    for (int i = lane * share; i < end; ++i)
        total = combine(total, pieces[2 * (first_block + i) + (i == 0 ? begins_late : 0)]);
    total = warp_reduce(total);
    if (lane == 0)
        store(results, piece.segment, length, total);
}

// The total of a group of `lanes` lanes, in the first of them.
__device__ __forceinline__ State join_lanes(State state, int lanes)
{
    #pragma unroll 1
    for (int delta = 1; delta < lanes; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
}

// Items are cut into as many slices as there are blocks. A segment is long if it is longer than a slice and
// than long_items: then at most one long segment begins in a slice, and at most one has begun before. The
// last warp of a block takes what its slice has of these two. The other warps take the segments that are not
// long: first a group of lanes takes one each, then the warp together what was too long for a group. Nobody
// waits for another warp, and one loop folds it all: where there is little to fold, each instruction is
// waited for, and so is each that is read from memory.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* pieces,
       unsigned* tickets)
{
    const int warp = threadIdx.x / kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const int last_warp = block_threads / kWarpThreads - 1;
    const int lane_bits = __ffs(lanes_per_segment) - 1;
    const Index even = (segments.num_items - 1) / Index(gridDim.x) + 1;
    const Index slice = (even + kItemsPerThread - 1) / kItemsPerThread * kItemsPerThread;
    const Index longest = max(slice, Index(long_items));  // of the segments that are not long
    const int groups = kWarpThreads >> lane_bits;
    Index batch = (Index(blockIdx.x) * last_warp + warp) * groups;  // the groups' next segments
    Turn own = {0, 0, 0, 0};
    unsigned waiting = 0;  // a bit for the first lane of each group whose turn is left to the warp
    int k = -1;            // the number of the piece
    if (warp == last_warp) {
        own = find_piece(segments, slice, longest);
        waiting = __ballot_sync(kFullMask, lane % (kWarpThreads / 2) == 0 && own.length > 0);
        batch = segments.num_segments;
    }
    for (;;) {
        int lanes = kWarpThreads;
        Turn turn = own;
        if (waiting != 0) {
            const int leader = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            turn = {__shfl_sync(kFullMask, own.segment, leader), __shfl_sync(kFullMask, own.origin, leader),
                    __shfl_sync(kFullMask, own.first, leader), __shfl_sync(kFullMask, own.length, leader)};
            k = leader / (kWarpThreads / 2);
        } else if (batch < segments.num_segments) {
            lanes = lanes_per_segment;
            own.segment = batch + (lane >> lane_bits);
            const bool is_there = own.segment < segments.num_segments;
            own.segment = min(own.segment, segments.num_segments - 1);
            batch += Index(gridDim.x) * last_warp * groups;
            own.origin = own.first = segment_begin(segments, own.segment);
            own.length = segment_end(segments, own.segment) - own.first;
            turn = own;
            const bool is_short = own.length <= lanes * kItemsPerThread;
            waiting = __ballot_sync(kFullMask, (lane & (lanes - 1)) == 0 && is_there && !is_short &&
                                                   own.length <= longest);
            if (!is_there || !is_short)
                turn = {segments.num_segments, 0, 0, 0};  // nothing is stored
        } else {
            return;
        }

        State total = identity();
        const int member = lane & (lanes - 1);
        #pragma unroll 1
        for (Index row = 0; __any_sync(kFullMask, row < turn.length); row += lanes * kItemsPerThread) {
            const Index mine = row + member * kItemsPerThread;
            State part = fold_consecutive(inputs, mine < turn.length ? turn.first + mine : 0,
                                          turn.first + mine - turn.origin, turn.segment, turn.length - mine);
            total = combine(total, part);
        }
        total = join_lanes(total, lanes);
        if (warp == last_warp)
            join_pieces(segments, results, pieces, tickets, turn, k, total, slice);
        else if (member == 0 && turn.segment < segments.num_segments)
            store(results, turn.segment, turn.length, total);
    }
}
