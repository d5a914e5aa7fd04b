//% stage   warp_stream
//% title   Each warp streams an equal share of items and segment ends; the last block joins the shares
//% after   tile_scan
//% source  Equal shares: Merrill & Garland 2016. Segmented scan: Sengupta, Harris, Zhang & Owens 2007
//% layout  uniform, offsets
//% needs   associative, element_bytes > 0, state_bytes <= 64, !uses_position, !uses_segment
//% needs   (costly_combine ? 16 : 8) * element_bytes + 9 * state_bytes <= 1177
//% tune    block_threads = 128, 32, 64, 96
//% tune    items_per_thread = 32, 16, 8
//% tune    ring_offsets = 512, 256, 1024
//% tune    blocks_per_multiprocessor = 8, 1, 2, 3, 4, 5, 6, 7, 10, 12, 16
//% let     item_bytes = element_bytes + state_bytes
//% let     ring_bytes = uniform ? 0 : ring_offsets * index_bytes
//% let     tiles = costly_combine ? 2 : 1
//% let     lane_bytes = tiles * items_per_thread * element_bytes + (items_per_thread + 1) * state_bytes + 4
//% let     desk_bytes = 32 * lane_bytes + ring_bytes
//% where   block_threads / 32 * desk_bytes <= 46000
//% prefer  items_per_thread = item_bytes > 24 ? 8 : item_bytes > 8 || mean_length < 6 ? 16 : 32
//% prefer  ring_offsets = mean_length < 128 ? 1024 : 512
//% prefer  block_threads = 46000 / desk_bytes * 32
//% prefer  blocks_per_multiprocessor = min(512 / block_threads, 226000 / (block_threads / 32 * desk_bytes + 1200))
//% let     tile_items = items_per_thread * 32
//% let     num_places = num_items + 2 * num_segments
//% let     most_blocks = max(1, ceil_div(num_places, tile_items * (block_threads / 32)))
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, most_blocks)
//% scratch block_heads : State[num_blocks]
//% scratch block_totals : State[num_blocks]
//% scratch block_waiting : Index[num_blocks]
//% scratch ticket : unsigned[1] zero
//% launch  stream  grid = num_blocks  block = block_threads
//% use     parts/segment_items.cuh
//% use     parts/warp_tile.cuh
//% use     parts/block_scan_runs.cuh
//% use     parts/warp_reduce.cuh

constexpr int kWarps = kBlockThreads / kWarpThreads;
constexpr int kTileItems = kItemsPerThread * kWarpThreads;
//% if costly_combine
constexpr int kTiles = 2;         // one is folded while the other arrives
//% else
constexpr int kTiles = 1;         // lanes take all of their items before the next tile arrives
//% end
constexpr int kSteps = kItemsPerThread / kStepItems;
constexpr Index kNoEnd = -1;      // no segment ends in the share
constexpr Index kNoneWaits = -2;  // segments end in the share, and all of them began in it
//% if offsets
constexpr int kEndWeight = 2;     // in a share, a segment's end counts as much as this many items
constexpr int kVectorOffsets = 16 / sizeof(Index);
constexpr int kChunkOffsets = kVectorOffsets * kWarpThreads;
//% end

// What is known of consecutive items when all segments that begin and end in them are stored.
struct Share {
    State head;     // up to the first end, if the segment that ends there began before: it waits for the rest
    State total;    // behind the last end, or of all items
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

// Joins two shares, the second of which begins where the first ends.
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

// What a warp keeps in shared memory.
struct Desk {
    Tile tiles[kTiles];
    State slots[(kItemsPerThread + 1) * kWarpThreads];  // at an item: the total of what ends before it
    unsigned heads[kWarpThreads];                   // for each lane a bit an item: something ends before it
    //% if offsets
    alignas(16) Index ring[kRingOffsets];           // offset i is at i % kRingOffsets
    //% end
};

// The slot of an item of the tile. Rows are one longer than a lane's items, so that neither the lanes at one
// item of theirs nor lanes at consecutive items meet in a bank.
__device__ __forceinline__ int slot_of(int item)
{
    return item + item / kItemsPerThread;
}

// Where a share begins: items before `item` and segments before `segment` belong to earlier shares.
struct Cut {
    Index item;
    Index segment;
};

// The cut between share - 1 and share, for the lower half of the warp, and between share and share + 1 for
// the upper one. Shares hold equal sums of items and weighted ends.
__device__ __forceinline__ Cut find_cut(const Segments& segments, Index share, Index num_shares)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    const Index mine = share + lane / kHalf;
    //% if uniform
    const Index item = Index((long long)segments.num_items * mine / num_shares);
    Cut cut = {item, item / segments.length};
    //% else
    const long long places = segments.num_items + (long long)kEndWeight * segments.num_segments;
    const long long place = places * mine / num_shares;
    Index low = 0;  // the answer is one of low to high: the first segment that ends at `place` or after it
    Index high = segments.num_segments - 1;
    while (__any_sync(kFullMask, low < high)) {
        const Index step = (high - low) / kHalf + 1;
        const Index probe = low + lane % kHalf * step;
        const bool before = probe < high &&
                            segments.offsets[probe + 1] + (long long)kEndWeight * (probe + 1) < place;
        const int count = __popc(__ballot_sync(kFullMask, before) >> lane / kHalf * kHalf & 0xffff);
        if (count > 0) {
            high = min(high, low + count * step);
            low += (count - 1) * step + 1;
        } else {
            high = low;
        }
    }
    const long long item = place - (long long)kEndWeight * low;
    Cut cut = {Index(min((long long)segments.offsets[low + 1], item)), low};
    //% end
    if (mine == num_shares)
        cut = {segments.num_items, segments.num_segments};
    return cut;
}
//% if offsets

// Starts to copy the offsets from `begin` on, a multiple of kChunkOffsets, into the ring.
__device__ __forceinline__ void copy_offsets(Index* ring, const Segments& segments, Index begin)
{
    const Index mine = begin + threadIdx.x % kWarpThreads * kVectorOffsets;
    const bool aligned = (unsigned long long)segments.offsets % 16 == 0;
    if (aligned && begin + kChunkOffsets <= segments.num_segments + 1) {
        copy_async(ring + mine % kRingOffsets, segments.offsets + mine);
        return;
    }
    #pragma unroll 1
    for (int k = 0; k < kVectorOffsets; ++k)
        if (mine + k <= segments.num_segments)
            ring[(mine + k) % kRingOffsets] = segments.offsets[mine + k];
}
//% end

// A warp folds its share tile by tile. Lane k takes kItemsPerThread consecutive items of a tile and walks
// them once; where a segment ends before an item, what the lane has goes to that item's slot and it starts
// anew. A scan across the lanes completes the first slot of each. Then the segments that end in the tile
// fetch their totals, 32 at a time, and store them side by side. What is open at the end of a tile is carried
// into the next in a register. A tile arrives in shared memory while the one before is folded, and so do
// offsets; no warp waits for another. The first segment that ends in the share may have begun in an earlier
// one: what the share has of it is the share's head, which waits for join_shares().
__device__ __forceinline__ Share stream_share(const Inputs& inputs,
                                              const Segments& segments,
                                              const Results& results,
                                              Desk& desk,
                                              Index share)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Cut cut = find_cut(segments, share, Index(gridDim.x) * kWarps);
    const Index begin = __shfl_sync(kFullMask, cut.item, 0);
    const Index end = __shfl_sync(kFullMask, cut.item, kWarpThreads - 1);
    const Index first_segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    // Tiles begin where vectors do, so lane 0 may meet some items of the share before.
    const int skipped = unsigned(begin) % kItemsPerThread;
    Index tile_begin = begin - skipped;
    copy_tile(desk.tiles[0], inputs, tile_begin, segments.num_items);
    Index next = first_segment;  // the first segment that has not ended yet
    //% if offsets
    Index copied = next - unsigned(next) % kChunkOffsets;  // offsets up to here are in the ring or under way
    #pragma unroll 1
    for (; copied - next <= kRingOffsets / 2 && copied <= end_segment; copied += kChunkOffsets)
        copy_offsets(desk.ring, segments, copied);
    //% end
    const bool began_before =
        first_segment < end_segment && segment_begin(segments, first_segment) < begin;
    desk.heads[lane] = 0;
    State head = identity();   // in lane 0
    State carry = identity();  // in lane 0

    bool is_last;
    //% if costly_combine
    int turn = 0;
    //% end
    do {
        is_last = end - tile_begin < kTileItems;
        const bool is_first = tile_begin <= begin;
        wait_for_copies();
        __syncwarp();  // the tile and its offsets are there, the heads are clear
        // One tile under way a warp is enough; more would only let some multiprocessors get ahead of others.
        //% if costly_combine
        if (!is_last)
            copy_tile(desk.tiles[turn ^ 1], inputs, tile_begin + kTileItems, segments.num_items);
        //% else
        Items items[kSteps];
        #pragma unroll
        for (int step = 0; step < kSteps; ++step)
            items[step] = take_items(desk.tiles[0], step);
        __syncwarp();  // all items have been taken
        if (!is_last)
            copy_tile(desk.tiles[0], inputs, tile_begin + kTileItems, segments.num_items);
        //% end

        // Mark where segments end in the tile, 32 at a time.
        const Index ended = next;
        //% if offsets
        bool in_ring = true;
        //% end
        for (;;) {
            const Index segment = next + lane;
            //% if offsets
            bool ends = segment < end_segment && segment + 1 < copied;
            const Index place = ends ? desk.ring[unsigned(segment + 1) % kRingOffsets] - tile_begin : 0;
            //% else
            bool ends = segment < end_segment;
            const Index place = ends ? segment_end(segments, segment) - tile_begin : 0;
            //% end
            ends = ends && place < kTileItems;
            const unsigned item = unsigned(place);
            if (ends)
                atomicOr(&desk.heads[item / kItemsPerThread], 1u << item % kItemsPerThread);
            const int count = __popc(__ballot_sync(kFullMask, ends));
            next += count;
            //% if offsets
            if (next + 1 >= copied && next < end_segment) {  // more ends than the ring holds
                in_ring = false;
                __syncwarp();  // all have read what the copy replaces
                copy_offsets(desk.ring, segments, copied);
                copied += kChunkOffsets;
                wait_for_copies();
                __syncwarp();  // the offsets are there
                continue;
            }
            //% end
            if (count < kWarpThreads)
                break;
        }
        // The share's own borders count as ends: nothing is folded across them.
        if (is_first && lane == 0)
            atomicOr(&desk.heads[0], 1u << skipped);
        if (is_last && lane == 0)
            atomicOr(&desk.heads[unsigned(end - tile_begin) / kItemsPerThread],
                     1u << unsigned(end - tile_begin) % kItemsPerThread);
        __syncwarp();  // all ends are marked
        //% if offsets
        #pragma unroll 1
        for (Index most = min(ended + kRingOffsets - kChunkOffsets, next + kRingOffsets / 2);
             copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, segments, copied);
        //% end

        const Index row_begin = tile_begin + lane * kItemsPerThread;
        State run = lane == 0 ? carry : identity();
        if (next == ended && !is_first && !is_last) {
            //% if costly_combine
            #pragma unroll 1
            //% else
            #pragma unroll
            //% end
            for (int step = 0; step < kSteps; ++step) {
                //% if costly_combine
                const Items some = take_items(desk.tiles[turn], step);
                //% else
                const Items& some = items[step];
                //% end
                #pragma unroll
                for (int k = 0; k < kStepItems; ++k)
                    run = combine(run, lift_item(inputs, some, k, row_begin + step * kStepItems + k));
            }
            carry = warp_reduce(run);
        } else {
            const unsigned heads = desk.heads[lane];
            desk.heads[lane] = 0;
            State* const slots = desk.slots + lane * (kItemsPerThread + 1);
            //% if costly_combine
            #pragma unroll 1
            //% else
            #pragma unroll
            //% end
            for (int step = 0; step < kSteps; ++step) {
                //% if costly_combine
                const Items some = take_items(desk.tiles[turn], step);
                //% else
                const Items& some = items[step];
                //% end
                #pragma unroll
                for (int k = 0; k < kStepItems; ++k) {
                    const int item = step * kStepItems + k;
                    const bool is_head = heads >> item & 1;
                    if (is_head)
                        slots[item] = run;
                    //% if uses_tables
                    // Nothing is looked up for items behind the last one.
                    const State state = row_begin + item < segments.num_items
                                            ? lift_item(inputs, some, k, row_begin + item)
                                            : identity();
                    //% else
                    const State state = lift_item(inputs, some, k, row_begin + item);
                    //% end
                    const State longer = combine(run, state);
                    run = is_head ? state : longer;
                }
            }

            // A lane's run reaches back to the last lane in which something ends.
            const unsigned lanes = __ballot_sync(kFullMask, heads != 0);
            const int reach = max(31 - __clz(lanes & kFullMask >> (31 - lane)), 0);
            //% if costly_combine
            #pragma unroll 1
            //% else
            #pragma unroll
            //% end
            for (int delta = 1; delta < kWarpThreads; delta *= 2) {
                const State earlier = shuffle_up(run, delta);
                if (lane - delta >= reach)
                    run = combine(earlier, run);
            }
            const State before = shuffle_up(run, 1);
            if (lane > 0 && heads != 0)
                slots[__ffs(heads) - 1] = combine(before, slots[__ffs(heads) - 1]);
            if (lane == 0 && is_first)
                slots[skipped] = identity();  // what lane 0 folded before the share's begin is not its own
            carry = shuffle(run, kWarpThreads - 1);
            __syncwarp();  // all slots are complete

            for (Index segment = ended + lane; segment < next; segment += kWarpThreads) {
                //% if offsets
                const Index from = in_ring ? desk.ring[unsigned(segment) % kRingOffsets]
                                           : segment_begin(segments, segment);
                const Index to = in_ring ? desk.ring[unsigned(segment + 1) % kRingOffsets]
                                         : segment_end(segments, segment);
                //% else
                const Index from = segment_begin(segments, segment);
                const Index to = segment_end(segments, segment);
                //% end
                const State total = desk.slots[slot_of(int(to - tile_begin))];
                if (began_before && segment == first_segment)
                    head = total;
                else
                    //% if offsets && allows_empty
                    store(results, segment, to - from, from < to ? total : identity());
                    //% else
                    store(results, segment, to - from, total);
                    //% end
            }
            if (is_last) {
                // Nothing is open where a segment ends with the share.
                const bool closed = next > first_segment && segment_end(segments, next - 1) == end;
                carry = closed ? identity() : desk.slots[slot_of(int(end - tile_begin))];
            }
        }
        __syncwarp();  // slots, ring and tile have been read
        //% if offsets
        // Where segments are short, the next tile may need more offsets than there was room for until now.
        #pragma unroll 1
        for (Index most = min(next + kRingOffsets - kChunkOffsets, next + (next - ended) + kWarpThreads);
             copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, segments, copied);
        //% end
        //% if costly_combine
        turn ^= 1;
        //% end
        tile_begin += kTileItems;
    } while (!is_last);

    return {head, carry, next == first_segment ? kNoEnd : began_before ? first_segment : kNoneWaits};
}

// The last block joins the blocks' shares in order, each thread some consecutive ones.
__device__ __noinline__ void join_all_shares(const Segments& segments,
                                             const Results& results,
                                             const State* __restrict__ block_heads,
                                             const State* __restrict__ block_totals,
                                             const Index* __restrict__ block_waiting)
{
    const int each = (int(gridDim.x) + kBlockThreads - 1) / kBlockThreads;
    const int begin = threadIdx.x * each;
    const int end = min(begin + each, int(gridDim.x));
    Share mine = {identity(), identity(), kNoEnd};
    //% if costly_combine
    #pragma unroll 1
    //% else
    #pragma unroll 4
    //% end
    for (int block = begin; block < end; ++block)
        mine = join_shares(segments, results, mine,
                           {block_heads[block], block_totals[block], block_waiting[block]});
    const Run before = block_scan_runs({mine.total, mine.waiting != kNoEnd});
    if (mine.waiting >= 0)
        store_waiting(segments, results, mine.waiting, combine(before.total, mine.head));
}

extern "C" __global__ void __launch_bounds__(kBlockThreads)
stream(Inputs inputs,
       Segments segments,
       Results results,
       State* block_heads,
       State* block_totals,
       Index* block_waiting,
       unsigned* ticket)
{
    __shared__ Desk desks[kWarps];
    __shared__ Share shares[kWarps];
    __shared__ bool last;
    const int warp = threadIdx.x / kWarpThreads;
    const Share share =
        stream_share(inputs, segments, results, desks[warp], Index(blockIdx.x) * kWarps + warp);
    if (threadIdx.x % kWarpThreads == 0)
        shares[warp] = share;
    __syncthreads();  // the shares of all warps are there
    if (threadIdx.x == 0) {
        Share all = shares[0];
        #pragma unroll 1
        for (int k = 1; k < kWarps; ++k)
            all = join_shares(segments, results, all, shares[k]);
        block_heads[blockIdx.x] = all.head;
        block_totals[blockIdx.x] = all.total;
        block_waiting[blockIdx.x] = all.waiting;
        __threadfence();  // the block's share is seen before the ticket is
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return;
    __threadfence();  // the other blocks' shares are read after their tickets
    join_all_shares(segments, results, block_heads, block_totals, block_waiting);
}
