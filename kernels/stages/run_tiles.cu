//% stage   run_tiles
//% title   Segments found in flags or keys, a tile a block; numbers and long segments by look-back
//% after   run_stream
//% source  Merrill & Garland 2016 (look-back)
//% layout  keys, flags
//% needs   associative, state_bytes <= 48, !uses_position, !uses_segment
//% let     has_room = copies_items && block_shared_bytes > 196608
//% tune    items_per_thread = 16, 8, 4, 24, 32
//% tune    copies = 0, 1
//% tune    slices_per_warp = 1, 2, 3
//% tune    block_threads = 256, 128, 288, 320, 352, 384, 416, 448, 512
//% let     resident_threads = cc == 75 ? 1024 : 1152
//% let     lane_items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     place_bytes = (keys ? 2 : 0) + (uses_length ? 2 : 0)
//% let     block_items = (block_threads - 32) * lane_items
//% let     room_bytes = ceil_div((state_bytes == 4 ? 16 : 17) * state_bytes * block_items, 16)
//% let     staged_bytes = room_bytes + place_bytes * block_items
//% let     is_static = staged_bytes + block_threads * (2 + state_bytes / 8) <= 48640
//% where   lane_items <= 16 && (copies ? copies_items : is_static && slices_per_warp == 1)
//% let     most_threads = state_bytes == 4 ? 1152 : 768
//% let     slice_bytes = state_bytes * (lane_items * 32 + (state_bytes == 4 ? 4 : lane_items * 2 + 1))
//% let     num_slices = (block_threads / 32 - 1) * slices_per_warp
//% where   slices_per_warp == 1 || has_room && slices_per_warp * (block_threads - 32) <= most_threads
//% let     items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     num_tiles = ceil_div(num_items, (block_threads - 32) * items * slices_per_warp)
//% scratch ticket : unsigned[1] zero
//% scratch launches : unsigned[1] zero
//% scratch tile_counts : u64[num_tiles] zero
//% scratch border_words : u64[num_tiles] zero
//% if uses_length
//% let     rest_pieces = ceil_div(state_bytes, 4) + 1
//% else
//% let     rest_pieces = max(1, ceil_div(state_bytes, 4) - 1)
//% end
//% scratch border_rest : u64[2 * num_tiles * rest_pieces] zero
//% if copies
//% launch  fold_tiles  grid = num_tiles  block = block_threads  shared = num_slices * slice_bytes
//% else
//% launch  fold_tiles  grid = num_tiles  block = block_threads
//% end
//% if copies
//% use     parts/tiles/copy_slice.cuh
//% else
//% use     parts/tiles/read_slice.cuh
//% end
//% use     parts/tiles/look_back.cuh
//% use     parts/segments/find_heads.cuh
//% use     parts/tiles/look_back_borders.cuh

// If a lane reads many bytes at once, 1024 threads are resident, with 64 registers each. Otherwise 1152
// threads are resident, with 56 registers each: four blocks of 288 threads or three of 384. If warps have
// several slices, shared memory has room for fewer blocks.
//% if copies
constexpr int kItemBytes = 0;  // no register holds the items, because copies bypass registers
//% else
constexpr int kItemBytes = int(sizeof(State));
//% end
//% if keys
constexpr int kReadBytes = kItems * (kItemBytes + int(sizeof(Key)));
//% else
constexpr int kReadBytes = kItems * (kItemBytes + 1);
//% end
constexpr int kMostResident = kSlicesPerWarp > 1 ? 864 : kReadBytes > 160 ? 1024 : kResidentThreads;
//% if keys && copies
constexpr int kSliceMarks = kExchanged / kVectorKeys;  // room for bits; places of heads replace items
//% else
constexpr int kSliceMarks = kExchanged;
//% end

// A block takes a tile. Each of its warps but the last takes one slice of the tile, or several consecutive
// slices. These warps find the heads and fold, while the last warp finds the number of segments that begin
// before the tile. Then they store the segments that end inside the tile, and the last warp brings the states
// that are open to the tile's borders. If this ends a segment that goes through whole tiles, the last warp
// looks back for the segment's other parts.
//
// Blocks take tiles by tickets, in order, so that all earlier tiles are done or under way. A block nearly
// always gets the tile of its own number, so it reads this tile before its ticket has come.
extern "C" __global__ void __launch_bounds__(kBlockThreads, kMostResident / kBlockThreads)
fold_tiles(Inputs inputs,
           Segments segments,
           Results results,
           unsigned* ticket,
           volatile unsigned* launches,
           volatile u64* tile_counts,
           volatile u64* border_words,
           volatile u64* border_rest)
{
    //% if copies
    extern __shared__ Unit staged_units[];
    State* const staged_items = reinterpret_cast<State*>(staged_units);
    //% else
    alignas(16) __shared__ State staged_items[kMostWarps * kSliceRoom];
    //% end
    __shared__ unsigned short exchanges[kMostWarps * kSlicesPerWarp * kSliceMarks];
    //% if uses_length
    // The place of each head in its slice.
    __shared__ unsigned short head_places[kMostWarps * kSlicesPerWarp * kSliceItems];
    //% end
    __shared__ int counts[kMostWarps];    // heads in each warp's slices
    __shared__ Index firsts[kMostWarps];  // heads in the input before each warp's slices
    __shared__ Shares shares;
    __shared__ Index own_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = kBlockThreads / kWarpThreads - 1;  // warps that fold
    const Index num_tiles = Index(gridDim.x);
    const bool is_folding = warp < num_warps;
    const int first_slice = (is_folding ? warp : 0) * kSlicesPerWarp;

    unsigned launch = 0;  // set in the last warp only
    if (!is_folding) {
        if (lane == 0)
            own_tile = Index(atomicInc(ticket, gridDim.x - 1u));  // wraps to 0, ready for the next launch
        launch = launches[0] + 1u;
        // Reads the words of the nearest borders, so that they are on their way to the cache.
        if (Index(blockIdx.x) >= lane) {
            const Index border = Index(blockIdx.x) - lane;
            (void)border_words[border];
            if (kRest > 0)
                (void)border_rest[2 * border * kRest];
        }
    }
    //% if !copies
    State items[kItems];
    //% end
    unsigned heads[kSlicesPerWarp];  // a bit for each of the lane's items: 1 for a head
    int up_to_here[kSlicesPerWarp];  // heads in the slice up to this lane's last item
    Index tile = Index(blockIdx.x);
    Index begin = 0;
    #pragma unroll 1
    for (;;) {
        begin = (tile * num_warps + warp) * (kSlicesPerWarp * kSliceItems);
        if (is_folding) {
            //% if copies
            wait_for_copies();  // no copy of another tile's items is under way
            #pragma unroll
            for (int slice = 0; slice < kSlicesPerWarp; ++slice)
                copy_slice(staged_items + (first_slice + slice) * kSliceRoom, inputs, segments,
                           begin + slice * kSliceItems);
            //% else
            read_slice(items, inputs, segments, begin);
            //% end
            int count = 0;
            #pragma unroll
            for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
                heads[slice] = find_heads(exchanges + (first_slice + slice) * kSliceMarks, segments,
                                          begin + slice * kSliceItems);
                up_to_here[slice] = warp_scan_counts(__popc(heads[slice]));
                count += up_to_here[slice];
            }
            if (lane == kWarpThreads - 1)
                counts[warp] = count;
        }
        __syncthreads();  // the ticket and the counts of all slices are written
        if (own_tile == tile)
            break;
        tile = own_tile;
    }

    Index first = 0;    // for the last warp: heads before the tile
    int num_heads = 0;  // heads in the warp's slices; for the last warp, in the tile
    if (is_folding) {
        //% if copies
        wait_for_copies();  // the lane's items have been copied
        //% else
        stage_slice(staged_items + first_slice * kSliceRoom, items);
        //% end
        __syncwarp();  // all items are staged
        State carry = identity();
        //% if uses_length
        Index opener = 0;  // place of the last head so far
        //% end
        #pragma unroll
        for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
            State* const staged = staged_items + (first_slice + slice) * kSliceRoom;
            //% if uses_length
            unsigned short* const places = head_places + (first_slice + slice) * kSliceItems;
            //% else
            unsigned short* const places = nullptr;
            //% end
            const Index slice_begin = begin + slice * kSliceItems;
            const int slice_heads = __shfl_sync(kFullMask, up_to_here[slice], kWarpThreads - 1);
            carry = fold_slice(staged, places, heads[slice], up_to_here[slice] - __popc(heads[slice]), carry);
            __syncwarp();  // all totals are complete
            if (lane == 0 && num_heads == 0 && slice_heads > 0)
                keep_first_end(shares, staged, places, slice_begin);
            //% if uses_length
            if (slice_heads > 0)
                opener = slice_begin + places[slice_heads - 1];
            //% end
            num_heads += slice_heads;
        }
        if (lane == 0) {
            shares.runs[warp] = {carry, num_heads > 0};
            //% if uses_length
            shares.last_heads[warp] = opener;
            //% end
        }
    } else {
        const int count = lane < num_warps ? counts[lane] : 0;
        const int up_to_share = warp_scan_counts(count);
        num_heads = __shfl_sync(kFullMask, up_to_share, kWarpThreads - 1);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kTileCount), num_heads);
        first = look_back(tile_counts, tile, launch);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kPrefixCount), first + num_heads);
        if (lane < num_warps)
            firsts[lane] = first + up_to_share - count;
    }
    __syncthreads();  // open runs of the shares, and `firsts`, are written

    if (is_folding) {
        int earlier = 0;  // heads in the warp's earlier slices
        Index opener = 0;
        #pragma unroll
        for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
            State* const staged = staged_items + (first_slice + slice) * kSliceRoom;
            //% if uses_length
            unsigned short* const places = head_places + (first_slice + slice) * kSliceItems;
            //% else
            unsigned short* const places = nullptr;
            //% end
            const Index slice_begin = begin + slice * kSliceItems;
            const int slice_heads = __shfl_sync(kFullMask, up_to_here[slice], kWarpThreads - 1);
            store_slice(results, staged, places, earlier == 0 ? 1 : 0, slice_heads, firsts[warp] + earlier,
                        slice_begin, opener);
            //% if uses_length
            if (slice_heads > 0)
                opener = slice_begin + places[slice_heads - 1];
            //% end
            //% if keys && copies
            __syncwarp();  // all totals are stored, so places of heads may replace them
            unsigned short* const own_places = reinterpret_cast<unsigned short*>(staged);
            //% elif keys
            unsigned short* const own_places = exchanges + (first_slice + slice) * kSliceMarks;
            //% end
            //% if keys
            store_slice_keys(own_places, segments, heads[slice],
                             up_to_here[slice] - __popc(heads[slice]), slice_heads, slice_begin,
                             firsts[warp] + earlier);
            //% end
            earlier += slice_heads;
        }
        if (lane == 0 && num_heads > 0)
            store_first_end(results, shares, firsts[warp]);
        return;
    }

    const Partial partial = join_shares(shares, num_warps);
    const Borders borders = {border_words, border_rest};
    //% if uses_length
    const Index last_head = partial.last_head;
    const Index first_head = partial.ends ? partial.first_head : segments.num_items;
    //% else
    constexpr Index last_head = 0;  // not used, because lengths do not matter
    constexpr Index first_head = 0;
    //% end
    const Index last_segment = first + num_heads - 1;
    const bool is_last = tile == num_tiles - 1;
    const bool is_through = !partial.ends && !is_last;
    const bool looks_back = !is_through && tile > 0 && is_long(first, tile - 1);
    // Lanes 0 and 1 take one border each, so that they wait for memory at the same time.
    Meeting meeting = {};
    const bool is_before = lane == 0;  // true if the tile lies before the lane's border, false if behind it
    const bool has_end = lane == 1 && !is_through && !looks_back;
    const Index border = is_before ? tile : tile - 1;
    const Index segment = is_before ? last_segment : first - 1;
    if ((is_before || has_end) && border >= 0 && border < num_tiles - 1) {
        const unsigned what = is_through ? kThrough : is_before ? kBegun : kEnd;
        const State open = is_before ? partial.tail : partial.head;
        meeting = bring(borders, border, launch, what, {open, is_before ? last_head : first_head},
                        !is_long(segment + 1, border));
    }
    State total = partial.head;
    if (meeting.is_known)
        total = combine(meeting.earlier.state, meeting.later.state);
    if (meeting.is_known && !meeting.goes_through)
        store(results, segment, length_between(meeting.earlier.head, meeting.later.head), total);
    if (lane == 3 && is_last) {
        if (partial.ends)
            store(results, last_segment, length_between(last_head, segments.num_items), partial.tail);
        *segments.num_found = last_segment + 1;
        launches[0] = launch;  // all blocks have read it: the count of this tile includes theirs
    }
    // At most one border of a tile ends a segment that goes through whole tiles: the border behind a tile
    // without a head, or the border before a tile with a head.
    const unsigned closing = __ballot_sync(kFullMask, meeting.is_known && meeting.goes_through);
    if (closing == 0 && !looks_back)
        return;
    const int closer = looks_back ? 1 : __ffs(int(closing)) - 1;
    const Index nearest = looks_back ? tile - 1 : __shfl_sync(kFullMask, border, closer) - 1;
    const int lane_borders = looks_back && first * kWarpThreads <= tile ? kLaneBorders : 1;
    //% if uses_length
    const Index end = looks_back ? first_head : __shfl_sync(kFullMask, meeting.later.head, closer);
    //% else
    constexpr Index end = 0;
    //% end
    close_segment(borders, results, nearest, lane_borders, launch, __shfl_sync(kFullMask, segment, closer),
                  shuffle(total, closer), end);
}
