//% stage   warp_stream
//% title   Each warp streams an equal share of items and segment ends; the last block joins the shares
//% after   tile_scan
//% source  Equal shares: Merrill & Garland 2016. Segmented scan: Sengupta, Harris, Zhang & Owens 2007
//% layout  uniform, offsets
//% let     tiles = costly_combine ? 2 : 1
//% let     least_bytes = 32 * (8 * (tiles * element_bytes + state_bytes) + state_bytes + 4) + 1024 * 8
//% needs   associative, element_bytes > 0, state_bytes <= 64, !uses_position, !uses_segment
//% needs   least_bytes <= 46000
//% tune    items_per_thread = 32, 16, 8
//% tune    sparse_ends = 0, 1
//% tune    ring_offsets = 512, 256, 1024
//% tune    block_threads = 256, 32, 64, 96, 128, 192, 512
//% tune    blocks_per_multiprocessor = 2, 1, 3, 4, 5, 6, 7, 8, 10, 12, 16
//% tune    held_totals = 512, 0, 256, 1024
//% let     ring_bytes = uniform ? 0 : ring_offsets * index_bytes
//% let     tile_room = 32 + (sparse_ends == 1 ? 8 : 32) * items_per_thread
//% let     own_bytes = 32 * (items_per_thread * tiles * element_bytes + 4) + tile_room * state_bytes + ring_bytes
//% let     desk_bytes = ceil_div(own_bytes + held_totals * state_bytes, 128) * 128
//% let     reserved_bytes = 1024
//% let     fixed_bytes = reserved_bytes + 176
//% let     static_bytes = block_threads / 32 * (state_bytes + 8) + fixed_bytes
//% let     block_bytes = block_threads / 32 * desk_bytes + static_bytes
//% let     all_bytes = block_shared_bytes + reserved_bytes
//% where   block_bytes <= block_shared_bytes
//% where   block_threads * blocks_per_multiprocessor <= 2048
//% fits    block_bytes * blocks_per_multiprocessor <= all_bytes
//% use     parts/tiles/share_cuts.cuh
//% let     tile_items = items_per_thread * 32
//% let     most_blocks = max(1, ceil_div(num_places, tile_items * (block_threads / 32)))
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, most_blocks)
//% scratch block_heads : State[num_blocks]
//% scratch block_totals : State[num_blocks]
//% scratch block_waiting : Index[num_blocks]
//% scratch ticket : unsigned[1] zero
//% launch  stream  grid = num_blocks  block = block_threads  shared = block_threads / 32 * desk_bytes
//% use     parts/tiles/shares.cuh
//% use     parts/elements/warp_tile.cuh
//% use     parts/reduce/warp_reduce.cuh
//% if offsets
//% use     parts/elements/copy_offsets.cuh
//% end
//% use     parts/elements/tile_rows.cuh
//% use     parts/tiles/tile_totals.cuh

constexpr int kMarks = 2;  // ends that a lane marks at once

// A warp's part of shared memory. It begins at a multiple of 128 bytes, which is a row of all banks. Copies
// to rows that straddle two rows of banks lose a tenth of the rate.
//% if at_launch
struct alignas(128) Row {
    char bytes[128];
};
struct Desk {
    Tile* tiles;     // if there are two, one is folded while the other is copied
    State* totals;   // totals of segments that have ended, until they are stored
    unsigned* ends;  // a bit for each item of each lane: 1 if a segment ends before it
    Index* ring;     // offset i is at i % ring_offsets
};
//% else
struct alignas(128) Desk {
    Tile tiles[kTiles];                     // if there are two, one is folded while the other is copied
    State totals[kTileRoom + held_totals];  // totals of segments that have ended, until they are stored
    unsigned ends[kWarpThreads];            // a bit for each item of each lane: 1 if a segment ends before it
    //% if offsets
    alignas(16) Index ring[ring_offsets];   // offset i is at i % ring_offsets
    //% end
};
//% end

// The work of a warp: consecutive items, and the segments that end among them.
struct Stretch {
    Index begin;
    Index end;
    Index first_segment;
    Index end_segment;
};

// Returns the items and ends of a share. The whole warp calls it.
__device__ __forceinline__ Stretch find_stretch(const Segments& segments, Index share, Index num_shares)
{
    const Cut cut = find_cut(segments, share, num_shares);
    const Index begin = __shfl_sync(kFullMask, cut.item, 0);
    const Index end = __shfl_sync(kFullMask, cut.item, kWarpThreads - 1);
    const Index first_segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    return {begin, end, first_segment, end_segment};
}

// Marks where segments end in the tile, from segment `next` on, two in each lane at a time. `next` becomes
// the first segment that ends behind the tile.
//% if offsets
// Then copies more offsets to the ring. If the ring holds too few offsets for the tile, copies some in
// between too.
//% end
__device__ __forceinline__ void mark_ends(const Segments& segments,
                                          Desk& desk,
                                          Index tile_begin,
                                          Index end_segment,
                                          //% if offsets
                                          int ring_offsets,
                                          Index& copied,
                                          Index& most,
                                          //% end
                                          //% if offsets && allows_empty
                                          bool& in_ring,
                                          //% end
                                          Index& next)
{
    const int lane = threadIdx.x % kWarpThreads;
    //% if offsets
    const Index ended = next;
    //% end
    for (;;) {
        //% if offsets
        const Index limit = min(end_segment, copied - 1);
        //% else
        const Index limit = end_segment;
        //% end
        Index places[kMarks];
        #pragma unroll
        for (int k = 0; k < kMarks; ++k) {
            const Index segment = next + k * kWarpThreads + lane;
            places[k] = kTileItems;
            if (segment < limit)
                //% if offsets
                places[k] = desk.ring[unsigned(segment + 1) & (ring_offsets - 1)] - tile_begin;
                //% else
                places[k] = segment_end(segments, segment) - tile_begin;
                //% end
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kMarks; ++k) {
            const bool ends = places[k] < kTileItems;
            if (ends)
                atomicOr(&desk.ends[unsigned(places[k]) / kItemsPerThread],
                         1u << unsigned(places[k]) % kItemsPerThread);
            count += __popc(__ballot_sync(kFullMask, ends));
        }
        next += count;
        //% if offsets
        if (next < limit && count == kMarks * kWarpThreads)
            continue;
        const bool is_done = next < limit || next >= end_segment;
        most = min(ended + ring_offsets - kChunkOffsets, next + ring_offsets / 2);
        if (!is_done) {  // more segments end than the ring has offsets
            most = copied;
            //% if allows_empty
            in_ring = false;
            //% end
        }
        __syncwarp();  // all ends are marked, and all lanes have read the offsets to be replaced
        #pragma unroll 1
        for (; copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, ring_offsets, segments, copied);
        if (is_done)
            break;
        wait_for_copies();
        __syncwarp();  // the offsets have been copied
        //% else
        if (count < kMarks * kWarpThreads || next >= end_segment)
            break;
        //% end
    }
    //% if !offsets
    __syncwarp();  // all ends are marked
    //% end
}

// A warp folds its share tile by tile. Lane k takes kItemsPerThread consecutive items of a tile and walks
// them once. If a segment ends before an item, the lane writes its run to the segment's place among the
// totals and begins a new run. A scan across the lanes completes the first total of each lane.
//
// Totals are stored when there is no room for more, because memory takes long rows of writes faster than
// short ones. A register carries the run that is open at the end of a tile into the next tile. The next tile
// and its offsets are copied to shared memory while this tile is folded. No warp waits for another.
//
// The first segment that ends in the share may have begun in an earlier share. Its part in this share is the
// share's head, which waits for join_shares().
__device__ __forceinline__ Share stream_share(const Inputs& inputs,
                                              const Segments& segments,
                                              const Results& results,
                                              Desk& desk,
                                              //% if offsets
                                              int ring_offsets,
                                              //% end
                                              int held_totals,
                                              Index share,
                                              Index num_shares)
{
    const int lane = threadIdx.x % kWarpThreads;
    const auto [begin, end, first_segment, end_segment] = find_stretch(segments, share, num_shares);
    // Tiles begin where vectors begin, so lane 0 may read some items of the share before.
    const int skipped = unsigned(begin) % kItemsPerThread;
    Index tile_begin = begin - skipped;
    copy_tile(desk.tiles[0], inputs, tile_begin, segments.num_items);
    Index next = first_segment;  // the first segment that has not ended yet
    //% if offsets
    Index copied = next - unsigned(next) % kChunkOffsets;  // offsets before it are in the ring or under way
    Index most = next + ring_offsets / 2;                  // a copy of offsets may begin here at the latest
    //% end
    const bool began_before =
        first_segment < end_segment && segment_begin(segments, first_segment) < begin;
    const bool ends_at_begin = began_before && segment_end(segments, first_segment) == begin;
    const Index first_stored = first_segment + (began_before ? 1 : 0);
    State* const totals = desk.totals + 1;  // one place is left before the first total
    Index base = first_segment;             // the segment of totals[0]
    desk.ends[lane] = 0;
    State head = identity();   // in lane 0: the share's head
    State carry = identity();  // in lane 0: the run that is open before the tile

    bool is_last;
    //% if costly_combine
    int turn = 0;
    //% end
    do {
        is_last = end - tile_begin < kTileItems;
        const bool is_first = tile_begin <= begin;
        //% if offsets
        #pragma unroll 1
        for (; copied <= most && copied <= end_segment; copied += kChunkOffsets)
            copy_offsets(desk.ring, ring_offsets, segments, copied);
        //% end
        wait_for_copies();
        __syncwarp();  // tile and offsets are copied, and the marks are 0
        // One tile under way for each warp is enough. With more, some multiprocessors only get ahead of
        // others.
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

        const Index ended = next;
        //% if offsets && allows_empty
        bool in_ring = true;
        //% end
        mark_ends(segments, desk, tile_begin, end_segment,
                  //% if offsets
                  ring_offsets, copied, most,
                  //% end
                  //% if offsets && allows_empty
                  in_ring,
                  //% end
                  next);

        const Index row_begin = tile_begin + lane * kItemsPerThread;
        State run = lane == 0 ? carry : identity();
        if (next == ended && !is_first && !is_last) {
            run = fold_row(inputs,
                           //% if costly_combine
                           desk.tiles[turn],
                           //% else
                           items,
                           //% end
                           row_begin, run);
            carry = warp_reduce(run);
        } else {
            const int room = kTileRoom + held_totals - 2;  // less one place before the totals and one behind
            // If there is no room for the totals of this tile, stores the totals so far.
            if (__any_sync(kFullMask, next - base > room)) {
                store_totals(segments, results, totals, base, max(base, first_stored), ended);
                base = ended;
                __syncwarp();  // all lanes have read the totals
            }
            State* const here = totals + (ended - base);
            // The share's borders count as ends, so that nothing is folded across them. The run before the
            // share's begin goes to the place before the first total. The run that is open at the share's end
            // goes to the place behind the last total.
            const bool cuts = is_first && lane == 0;
            unsigned ends = desk.ends[lane];
            if (cuts && !ends_at_begin)
                ends &= ~(1u << skipped);  // only empty segments end there
            desk.ends[lane] = 0;
            int num_totals;
            int rank = find_rank(ends, num_totals);  // rank of the lane's first end among the tile's ends
            unsigned heads = ends;
            if (cuts && !ends_at_begin) {
                heads |= 1u << skipped;
                rank = -1;
            }
            const int last = is_last ? int(end - tile_begin) : 0;
            if (is_last && lane == last / kItemsPerThread)
                heads |= 1u << last % kItemsPerThread;
            //% if offsets && allows_empty || sparse_ends == 1
            Index crowd = ended;  // the first segment in the tile that is not stored yet
            //% end
            //% if sparse_ends == 1
            // If more segments end in the tile than there is room for, lanes walk their rows in turns. A turn
            // consists of as many lanes as have room for their totals, which are stored before the next turn.
            const int ends_up_to = max(rank, 0) + __popc(ends);
            int turn_begin = 0;  // first lane of the turn
            int turn_end = kWarpThreads;
            int turn_rank = 0;   // rank of the turn's first end
            for (;;) {
                if (num_totals > room)
                    turn_end = __popc(__ballot_sync(kFullMask, ends_up_to - turn_rank <= room));
                const bool is_on = lane >= turn_begin && lane < turn_end;
                const int turn_place = rank - turn_rank;
                if (is_on)
                    run = walk_row(inputs,
                                   //% if uses_tables
                                   segments.num_items,
                                   //% end
                                   //% if costly_combine
                                   desk.tiles[turn],
                                   //% else
                                   items,
                                   //% end
                                   row_begin, heads, here + turn_place, run);
                run = join_rows(run, is_on ? heads : 0, here, turn_place);
                if (cuts && ends_at_begin && turn_begin == 0)
                    here[0] = identity();  // items before the share's begin belong to another share
                __syncwarp();  // all totals are complete
                if (began_before && crowd == first_segment && next > crowd)
                    head = here[0];
                carry = shuffle(run, kWarpThreads - 1);
                if (turn_end == kWarpThreads)
                    break;
                const int num_here = __shfl_sync(kFullMask, ends_up_to, turn_end - 1) - turn_rank;
                crowd = store_crowd(segments, results, here, crowd, next, first_stored, num_here);
                __syncwarp();  // all lanes have read the totals
                turn_rank += num_here;
                turn_begin = turn_end;
                run = lane == turn_begin ? carry : identity();
            }
            num_totals -= turn_rank;
            //% else
            run = walk_row(inputs,
                           //% if uses_tables
                           segments.num_items,
                           //% end
                           //% if costly_combine
                           desk.tiles[turn],
                           //% else
                           items,
                           //% end
                           row_begin, heads, here + rank, run);
            run = join_rows(run, heads, here, rank);
            if (cuts && ends_at_begin)
                here[0] = identity();  // items before the share's begin belong to another share
            carry = shuffle(run, kWarpThreads - 1);
            __syncwarp();  // all totals are complete
            if (began_before && ended == first_segment && next > ended)
                head = here[0];
            //% end
            if (is_last) {
                // Nothing is open if a segment ends with the share.
                const unsigned closing = __shfl_sync(kFullMask, ends, last / kItemsPerThread);
                const bool is_open = begin < end && !(closing >> last % kItemsPerThread & 1);
                carry = is_open ? here[num_totals] : identity();
            }
            //% if offsets && allows_empty || sparse_ends == 1
            // True if empty segments end in the tile too, or if some totals are stored already.
            if (num_totals < next - crowd || crowd != ended) {
                //% if offsets && allows_empty
                if (__any_sync(kFullMask, next - base <= room)) {
                    let_empty_in(segments, desk.ring, ring_offsets, here, num_totals, ended, next, in_ring);
                } else {
                    store_crowd(segments, results, here, crowd, next, first_stored, kAllTotals);
                    base = next;
                }
                //% else
                store_crowd(segments, results, here, crowd, next, first_stored, kAllTotals);
                base = next;
                //% end
            }
            //% end
        }
        __syncwarp();  // all lanes have read totals, ring and tile
        //% if offsets
        // If segments are short, the next tile may need more offsets than the ring had room for so far.
        most = next + min(Index(ring_offsets - kChunkOffsets), next - ended + kWarpThreads);
        //% end
        //% if costly_combine
        turn ^= 1;
        //% end
        tile_begin += kTileItems;
    } while (!is_last);
    store_totals(segments, results, totals, base, max(base, first_stored), next);

    return {head, carry, next == first_segment ? kNoEnd : began_before ? first_segment : kNoneWaits};
}

//% if at_launch
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1)
//% else
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, kBlocksPerMultiprocessor)
//% end
stream(Inputs inputs,
       Segments segments,
       Results results,
       //% number block_threads
       //% if offsets
       //% number ring_offsets
       //% end
       //% number held_totals
       //% number desk_bytes
       State* block_heads,
       State* block_totals,
       Index* block_waiting,
       unsigned* ticket)
{
    //% if at_launch
    extern __shared__ Row desks[];
    //% else
    extern __shared__ Desk desks[];
    //% end
    __shared__ bool last;
    // Neighbouring blocks, which may run on one multiprocessor, take shares from both halves of the input. If
    // segments are short in one half and long in the other, issue slots and memory are then both busy.
    const unsigned half = gridDim.x / 2;
    const Index block = Index(2 * half == gridDim.x ? blockIdx.x % 2 * half + blockIdx.x / 2 : blockIdx.x);
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads;
    char* const own = reinterpret_cast<char*>(desks) + warp * desk_bytes;
    //% if at_launch
    Desk desk;
    desk.tiles = reinterpret_cast<Tile*>(own);
    desk.ends = reinterpret_cast<unsigned*>(own + kTiles * sizeof(Tile));
    //% if offsets
    desk.ring = reinterpret_cast<Index*>(desk.ends + kWarpThreads);
    desk.totals = reinterpret_cast<State*>(desk.ring + ring_offsets);
    //% else
    desk.totals = reinterpret_cast<State*>(desk.ends + kWarpThreads);
    //% end
    //% else
    static_assert(sizeof(Desk) <= desk_bytes, "the launch provides for the desk");
    Desk& desk = *reinterpret_cast<Desk*>(own);
    //% end
    const Share share = stream_share(inputs, segments, results, desk,
                                     //% if offsets
                                     ring_offsets,
                                     //% end
                                     held_totals, block * num_warps + warp, Index(gridDim.x) * num_warps);
    // The warp is done with its desk, so its share may replace the tile.
    static_assert(sizeof(Share) <= sizeof(Tile), "a tile is larger than a share");
    if (threadIdx.x % kWarpThreads == 0)
        *reinterpret_cast<Share*>(own) = share;
    __syncthreads();  // the shares of all warps are written
    if (threadIdx.x == 0) {
        Share all = share;
        #pragma unroll 1
        for (int k = 1; k < num_warps; ++k)
            all = join_shares(segments, results, all, *reinterpret_cast<Share*>(own + k * desk_bytes));
        block_heads[block] = all.head;
        block_totals[block] = all.total;
        block_waiting[block] = all.waiting;
        __threadfence();  // others see the block's share before the ticket
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return;
    __threadfence();  // reads the other blocks' shares after their tickets
    join_all_shares(segments, results, block_heads, block_totals, block_waiting);
}
