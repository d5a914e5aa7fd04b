//% stage   group_or_grid
//% title   Groups of lanes reduce short segments, warps longer ones, all blocks together the longest
//% after   group_per_segment
//% source  Groups and warps by length: Greathouse & Daga 2014 (CSR-Adaptive), without its first pass
//% layout  uniform, offsets
//% needs   associative
//% let     are_mixed = padded_elements > 2 * num_elements
//% let     few_alike = state_bytes == 8 && num_elements > 1048576 ? 24576 : 8192
//% let     most = are_mixed ? 98304 : padded_elements == 0 ? 32768 : few_alike
//% tune    block_threads = 128, 64, 256, 512
//% tune    items_per_thread = 8, 2, 4
//% tune    lanes_per_segment = 4, 2, 8, 16, 32
//% tune    long_items = 1024, 64, 256, 512, 2048
//% tune    blocks_per_multiprocessor = 8, 1, 2, 4, 6
//% let     few = mean_length <= 16 ? 2 : mean_length <= 32 ? 4 : 8
//% let     lanes = mean_length <= 64 ? few : mean_length <= 128 ? 16 : 32
//% prefer  lanes_per_segment = min(lanes, long_items / items_per_thread)
//% where   block_threads * blocks_per_multiprocessor <= 2048
//% where   lanes_per_segment * items_per_thread <= long_items
//% let     block_segments = (block_threads - 32) / lanes_per_segment
//% let     by_segments = ceil_div(num_segments, block_segments)
//% let     by_items = ceil_div(num_items, (num_items > 1024 * num_segments ? 8 : 1) * block_threads)
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, max(by_segments, by_items))
//% scratch pieces : State[2 * num_blocks]
//% scratch tickets : unsigned[num_blocks] zero
//% launch  reduce  grid = num_blocks  block = block_threads
//% use     parts/segments/segment_items.cuh
//% if offsets
//% use     parts/segments/search_ends.cuh
//% end
//% use     parts/elements/fold_consecutive.cuh
//% use     parts/reduce/warp_reduce.cuh

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
    //% if uniform
    const Index segment = item / segments.length;
    //% else
    const Index segment = search_ends(segments, (long long)item + 1, 0);
    //% end
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
    //% if costly_combine
    #pragma unroll 1
    //% else
    #pragma unroll 4
    //% end
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
//% if at_launch
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1)
//% else
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
//% end
reduce(Inputs inputs,
       Segments segments,
       Results results,
       //% number block_threads
       //% number lanes_per_segment
       //% number long_items
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
            //% if !commutative
            part = join_lanes(part, lanes);  // row by row, to keep the order
            //% end
            total = combine(total, part);
        }
        //% if commutative
        total = join_lanes(total, lanes);
        //% end
        if (warp == last_warp)
            join_pieces(segments, results, pieces, tickets, turn, k, total, slice);
        else if (member == 0 && turn.segment < segments.num_segments)
            store(results, turn.segment, turn.length, total);
    }
}
