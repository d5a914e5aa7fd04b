//% stage   running_tiles
//% title   Running results: equal tiles in one pass, states of open segments by look-back
//% after   tile_scan
//% source  Merrill & Garland 2016; Sengupta, Harris, Zhang & Owens 2007, section 3
//% layout  whole, uniform, offsets, ranges, flags, keys
//% needs   scans, associative, state_bytes <= 128
//% tune    span_tiles = 32, 4
//% tune    items_per_thread = 32, 4, 8, 16
//% tune    block_threads = 256, 64, 128
//% where   wide_scan || block_threads * items_per_thread * (element_bytes + scanned_bytes) <= 40960
//% fits    items_per_thread <= 16 || element_bytes + scanned_bytes <= 4
//% let     num_tiles = ceil_div(num_items, block_threads * items_per_thread)
//% scratch ticket : u64[1] zero
//% scratch tile_states : u64[(num_tiles + 2 * ceil_div(num_tiles, span_tiles) + 2) * ceil_div(state_bytes, 4)] zero
//% if finds_offsets
//% use     parts/segments/find_offsets.cuh
//% end
//% launch  scan_tiles  grid = num_tiles  block = block_threads
//% if (keeps_results || map) && allows_empty && !uniform
//% use     parts/segments/store_empty.cuh
//% end
//% if !whole && !uniform
//% use     parts/segments/search_ends.cuh
//% end
//% use     parts/tiles/running_tile.cuh
//% use     parts/reduce/block_scan_runs.cuh
//% use     parts/tiles/look_back_states.cuh

constexpr int kTileItems = kBlockThreads * kItemsPerThread;

// A block takes a tile of consecutive items, by tickets along the way of the scan, so that all tiles before are
// done or under way. Blocks nearly always begin in this order, so a block reads the tile of its own number while
// its ticket is drawn, and another one only if the ticket says so. Threads pass their items twice. The first
// pass finds the run that each thread leaves open. The second pass gives each item its outputs. If the tile
// begins inside of a segment, one warp looks back for the state of that segment between the two passes.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
//% if finds_offsets
scan_tiles(Inputs inputs, Given segments, Results results, const Index* offsets, u64* large_counts, u64* ticket,
           volatile u64* tile_states)
//% else
scan_tiles(Inputs inputs, Segments segments, Results results, u64* ticket, volatile u64* tile_states)
//% end
{
    //% if finds_offsets
    const Segments ends = {segments, offsets, *segments.num_found};
    clear_counts(segments, large_counts);
    //% else
    const Segments& ends = segments;
    //% end
    __shared__ WarpTile tiles[kTileWarps];
    __shared__ u64 taken;
    __shared__ Run of_tile;     // the tile's run; `ends` is true if the scan enters a segment in the tile
    __shared__ bool is_inside;  // true if the tile begins inside of a segment
    __shared__ State carry;     // state of that segment's items in earlier tiles
    //% if !whole && !uniform
    __shared__ Index bounds[2];  // the segments of the tile's first and last item
    //% if !ranges && !scan_places
    __shared__ unsigned entries[kEntryWords];
    for (int k = threadIdx.x; k < kEntryWords; k += kBlockThreads)
        entries[k] = 0;
    //% end
    //% end
    WarpTile& tile = tiles[threadIdx.x / kWarpThreads];
    u64 drawn = 0;
    if (threadIdx.x == 0)
        drawn = atomicAdd(ticket, 1ull);
    Index turn = Index(blockIdx.x);
    Index tile_begin = 0;
    Index tile_end = 0;
    Own own = {};
    #pragma unroll 1
    for (bool is_guess = true;; is_guess = false) {
        //% if reverse
        tile_begin = (Index(gridDim.x) - 1 - turn) * kTileItems;
        //% else
        tile_begin = turn * kTileItems;
        //% end
        tile_end = min(tile_begin + kTileItems, ends.num_items);
        own = own_items(tile_begin, tile_end);
        start_copy(tile, inputs, own);
        //% if !whole && !uniform
        if (threadIdx.x < kWarpThreads) {  // each half of the warp searches one
            const bool is_last = threadIdx.x >= kWarpThreads / 2;
            const Index segment = search_ends(ends, i64(is_last ? tile_end : tile_begin + 1), 0);
            if (threadIdx.x % (kWarpThreads / 2) == 0)
                bounds[is_last] = segment;
        }
        //% end
        if (is_guess && threadIdx.x == 0) {
            taken = drawn;
            // The last ticket sets the lower half to 0 and adds 1 to the launch's number in the upper half.
            if (unsigned(drawn) == gridDim.x - 1u)
                atomicAdd(ticket, (1ull << 32) - gridDim.x);
        }
        __syncthreads();  // thread 0 has written the ticket, and all that the tile needs
        if (turn == Index(unsigned(taken)))
            break;
        turn = Index(unsigned(taken));
        finish_copy();  // so that the tile can be copied to again
    }
    const unsigned tag = unsigned(taken >> 32) + 1u;  // words that no launch has written are 0
    //% if !whole && !uniform
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];
    //% else
    const Index first_segment = find_segment(ends, tile_begin, 0, 0);
    const Index last_segment = find_segment(ends, tile_end - 1, 0, 0);
    //% end
    //% if ranges || scan_places
    Way way = {};
    if (own.count > 0)
        way = way_from(ends, first_on_way(own), first_segment, last_segment);
    //% elif !whole && !uniform
    mark_entries(entries, ends, tile_begin, first_segment, last_segment);
    __syncthreads();  // all entries are marked
    const Way way = way_of(entries, int(own.begin - tile_begin));
    //% else
    const Way way = way_of(ends, own.begin, own.count);
    //% end

    finish_copy();
    const Run run = fold_own(inputs, ends, tile, own, way);
    const Run before = block_scan_runs(run);
    if (threadIdx.x == kBlockThreads - 1)
        of_tile = join(before, run);
    __syncthreads();  // the tile's run is written
    if (threadIdx.x < kWarpThreads) {
        // The tile in which the way enters the segment that the tile begins inside of.
        //% if reverse
        const Index segment_last = segment_end(ends, last_segment) - 1;
        const bool begins_inside = segment_last >= tile_end;
        const Index entry = Index(gridDim.x) - 1 - segment_last / kTileItems;
        //% else
        const Index segment_first = segment_begin(ends, first_segment);
        const bool begins_inside = segment_first < tile_begin;
        const Index entry = segment_first / kTileItems;
        //% end
        const bool goes_on = begins_inside && !of_tile.ends;
        if (threadIdx.x == 0) {
            is_inside = begins_inside;
            tell_state(tile_states, 0, turn, tag, of_tile.total);
            if (!goes_on && is_last_of_span(turn))
                tell_state(tile_states, 1, turn, tag, of_tile.total);
            if (!goes_on && is_last_of_stretch(turn))
                tell_state(tile_states, 2, turn, tag, of_tile.total);
        }
        if (begins_inside) {
            const State state = look_back_states(tile_states, turn, entry, tag, goes_on, of_tile.total);
            if (threadIdx.x == 0)
                carry = state;
        }
    }
    __syncthreads();  // the carry is written

    State state = before.total;
    if (is_inside && !before.ends)
        state = threadIdx.x == 0 ? carry : join_on_way(carry, before.total);
    scan_own(inputs, ends, results, tile, own, way, state);
}
