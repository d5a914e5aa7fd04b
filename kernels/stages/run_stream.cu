//% stage   run_stream
//% title   Segments found in flags or keys and folded in one pass; numbers by look-back, carries by a tree
//% after   tile_scan
//% source  Merrill & Garland 2016 (look-back); Merrill & Garland 2016, merge-based SpMV (carries)
//% layout  keys, flags
//% needs   associative, state_bytes <= 64, !uses_position, !uses_segment
//% tune    block_threads = 256, 128
//% tune    items_per_thread = 16, 8, 4
//% tune    slices_per_warp = 4, 1, 2, 3, 5, 6, 7, 8, 10, 12, 14, 16
//% tune    resident_threads = 1024, 768
//% let     wave_items = 528 * 224 * ceil_div(64, max(4, state_bytes))
//% let     waves = ceil_div(num_elements, wave_items)
//% fits    slices_per_warp >= (waves > 16 ? 4 : waves)
//% let     items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     num_tiles = ceil_div(num_items, (block_threads - 32) * items * slices_per_warp)
//% let     num_partials = num_tiles + num_tiles / 31 + 8
//% scratch ticket : unsigned[1] zero
//% scratch launches : unsigned[1] zero
//% scratch tile_counts : u64[num_tiles] zero
//% scratch partial_heads : State[num_partials]
//% scratch partial_tails : State[num_partials]
//% scratch partial_ends : bool[num_partials]
//% scratch last_segments : Index[num_partials]
//% if uses_length
//% scratch first_heads : Index[num_partials]
//% scratch last_heads : Index[num_partials]
//% end
//% scratch arrivals : unsigned[num_partials] zero
//% launch fold_runs grid = min(num_tiles, resident_threads / block_threads * num_multiprocessors) block = block_threads
//% use     parts/segments/share_heads.cuh
//% use     parts/tiles/read_slice.cuh
//% use     parts/tiles/look_back.cuh
//% use     parts/tiles/combining_tree.cuh

// Blocks take tiles of consecutive items by tickets, in order, so that all earlier tiles are done or under
// way. A warp takes a share of each tile, slice by slice. Its lanes load neighbouring items or vectors, fold
// kItems consecutive items each, and combine strictly in the order of the items. The last warp of a block has
// no items. It finds the number of segments that begin before a tile.
//
// This number passes at most some 25 tiles a microsecond. So tiles are large, and no warp waits for it: a
// block finds the heads of its next tile before it folds the current one, and its last warp looks back while
// the others fold. The items of a slice are read while the slice before is folded.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1024 / kMostBlockThreads)
fold_runs(Inputs inputs,
          Segments segments,
          Results results,
          //% number block_threads
          //% number slices_per_warp
          unsigned* ticket,
          volatile unsigned* launches,
          volatile u64* tile_counts,
          State* partial_heads,
          State* partial_tails,
          bool* partial_ends,
          Index* last_segments,
          //% if uses_length
          Index* first_heads,
          Index* last_heads,
          //% end
          unsigned* arrivals)
{
    alignas(16) __shared__ State staged_items[kMostWarps * kSliceRoom];
    __shared__ unsigned short marks[2][kMostWarps * kMarks];  // heads of the current tile and the next one
    //% if keys
    __shared__ HeldKeys held_keys[kMostWarps];  // heads of the next tile
    //% end
    //% if uses_length
    __shared__ unsigned short head_places[kMostWarps * kSliceItems];  // place of each head in its slice
    //% end
    // `counts` has the number of heads in each share of the next tile. It is written before a round's first
    // barrier and read behind it. `firsts` has the number of heads in the input before each share, for the
    // current tile and the next one. It is written between the two barriers of the round before its tile is
    // folded. `shares` is written between the two barriers of its tile's own round. Both are read behind the
    // second barrier.
    __shared__ int counts[kMostWarps];
    __shared__ Index firsts[2][kMostWarps];
    __shared__ Shares shares;
    __shared__ Index next_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads - 1;  // warps that fold
    const int share_items = kSliceItems * slices_per_warp;   // items of a warp in a tile
    const int tile_items = share_items * num_warps;
    const Index num_tiles = (segments.num_items - 1) / tile_items + 1;
    // Each block takes one ticket more than it has tiles. The last ticket of all wraps to 0 for the next
    // launch.
    const unsigned last_ticket = unsigned(num_tiles) + gridDim.x - 1u;
    //% if uses_length
    const Tree tree = {partial_heads, partial_tails, partial_ends, last_segments,
                       first_heads,   last_heads,    arrivals};
    //% else
    const Tree tree = {partial_heads, partial_tails, partial_ends, last_segments, arrivals};
    //% end
    const bool is_folding = warp < num_warps;
    State* const staged = staged_items + (is_folding ? warp : 0) * kSliceRoom;
    //% if uses_length
    unsigned short* const places = head_places + (is_folding ? warp : 0) * kSliceItems;
    //% else
    unsigned short* const places = nullptr;
    //% end

    if (threadIdx.x == 0)
        next_tile = Index(atomicInc(ticket, last_ticket));
    __syncthreads();  // thread 0 has written the first ticket
    Index next = next_tile;
    if (next >= num_tiles)
        return;
    const unsigned launch = launches[0] + 1u;  // launches[0] changes only after the last tile
    Index tile = num_tiles;                    // the tile that is folded; none in the first round
    int side = 0;                              // which of two buffers belongs to the current tile
    Index next_first = 0;                      // for the last warp: heads before the next tile
    int next_heads = 0;                        // for the last warp: heads in the next tile
    State items[kItems];                       // items of the slice that is folded next

    #pragma unroll 1
    for (;;) {
        const bool has_tile = tile < num_tiles;
        const bool has_next = next < num_tiles;
        const Index first = next_first;
        const int tile_heads = next_heads;
        const Index begin = tile * tile_items + warp * share_items;
        const Index next_begin = next * tile_items + warp * share_items;
        if (is_folding) {
            unsigned short* const next_marks = marks[side ^ 1] + warp * kMarks;
            //% if keys
            if (has_tile)
                store_keys(held_keys[warp], marks[side] + warp * kMarks, segments, begin, slices_per_warp,
                           firsts[side][warp]);
            //% end
            if (has_next) {
                //% if keys
                const int own =
                    find_heads(next_marks, held_keys[warp], segments, next_begin, slices_per_warp);
                //% else
                const int own = find_heads(next_marks, segments, next_begin, slices_per_warp);
                //% end
                const int count = warp_scan_counts(own);
                if (lane == kWarpThreads - 1)
                    counts[warp] = count;
            }
        }
        __syncthreads();  // the counts of all shares of the next tile are written

        int num_heads = 0;  // heads in the warp's slices so far
        if (is_folding) {
            State carry = identity();
            Index opener = 0;
            // In the first round there is no tile to fold. Only the first slice of the next tile is read.
            #pragma unroll 1
            for (int slice = has_tile ? 0 : slices_per_warp - 1; slice < slices_per_warp; ++slice) {
                const Index slice_begin = begin + slice * kSliceItems;
                stage_slice(staged, items);
                const bool is_last = slice + 1 == slices_per_warp;
                if (!is_last || has_next)
                    read_slice(items, inputs, segments, is_last ? next_begin : slice_begin + kSliceItems);
                if (!has_tile)
                    break;
                const unsigned heads = marks[side][warp * kMarks + slice * kWarpThreads + lane];
                const int up_to_here = warp_scan_counts(__popc(heads));
                const int slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
                __syncwarp();  // all items are staged
                carry = fold_slice(staged, places, heads, up_to_here - __popc(heads), carry);
                __syncwarp();  // all totals are complete
                if (num_heads == 0 && slice_heads > 0 && lane == 0)
                    keep_first_end(shares, staged, places, slice_begin);
                store_slice(results, staged, places, num_heads == 0 ? 1 : 0, slice_heads,
                            firsts[side][warp] + num_heads, slice_begin, opener);
                //% if uses_length
                if (slice_heads > 0)
                    opener = slice_begin + places[slice_heads - 1];
                //% end
                num_heads += slice_heads;
                __syncwarp();  // all lanes are done with the slice, so the next one may replace it
            }
            if (lane == 0 && has_tile) {
                shares.runs[warp] = {carry, num_heads > 0};
                //% if uses_length
                shares.last_heads[warp] = opener;
                //% end
            }
        } else if (!is_folding && has_next) {
            const int count = lane < num_warps ? counts[lane] : 0;
            const int up_to_here = warp_scan_counts(count);
            next_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
            if (lane == 0)
                publish_count(tile_counts, next, word_tag(launch, kTileCount), next_heads);
            next_first = look_back(tile_counts, next, launch);
            if (lane == 0) {
                publish_count(tile_counts, next, word_tag(launch, kPrefixCount), next_first + next_heads);
                next_tile = Index(atomicInc(ticket, last_ticket));
            }
            if (lane < num_warps)
                firsts[side ^ 1][lane] = next_first + up_to_here - count;
        }
        __syncthreads();  // open runs of the shares, and `firsts` of the next tile, are written

        if (is_folding && has_tile && lane == 0 && num_heads > 0)
            store_first_end(results, shares, firsts[side][warp]);
        if (!is_folding && has_tile) {
            Partial partial = join_shares(shares, num_warps);
            partial.last_segment = first + tile_heads - 1;
            if (climb_tree(tree, results, num_tiles, tile, partial) && lane == 0) {
                //% if uses_length
                const Index length = segments.num_items - partial.last_head;
                //% else
                constexpr Index length = 1;
                //% end
                store(results, partial.last_segment, length, partial.tail);
                *segments.num_found = partial.last_segment + 1;
                launches[0] = launch;
            }
        }
        if (!has_next)
            return;
        tile = next;
        next = next_tile;
        side ^= 1;
    }
}
