//% stage   running_segments
//% title   Running results of equal segments: a block takes whole segments and waits for nobody
//% after   running_tiles
//% source  Sengupta, Harris, Zhang & Owens 2007, section 3
//% layout  uniform
//% needs   scans, associative, state_bytes <= 128
//% tune    items_per_thread = 32, 4, 8, 16
//% tune    block_threads = 256, 64, 128
//% where   wide_scan || block_threads * items_per_thread * (element_bytes + scanned_bytes) <= 40960
//% fits    items_per_thread <= 16 || element_bytes + scanned_bytes <= 4
//% let     segment_items = max(num_items / max(num_segments, 1), 1)
//% let     most_segments = max(block_threads * items_per_thread / segment_items, 1)
//% let     block_segments = most_segments < 4 ? most_segments : most_segments - most_segments % (most_segments < 16 ? 4 : 16)
//% launch  scan_segments  grid = min(ceil_div(num_segments, block_segments), num_items)  block = block_threads
//% use     parts/tiles/running_tile.cuh
//% use     parts/reduce/block_scan_runs.cuh

constexpr int kTileItems = kBlockThreads * kItemsPerThread;

// Returns how many segments a block takes: as many as a tile holds. Of several, it takes a multiple that makes
// blocks begin at vectors of 16 bytes, whatever the elements' type, where the tile holds so many.
__device__ __forceinline__ Index block_segments(Index length)
{
    const Index most = max(kTileItems / length, Index(1));
    return most < 4 ? most : most - most % (most < 16 ? 4 : 16);
}

// A block takes whole segments, tile by tile along the way of the scan; short ones lie in one tile. Threads
// pass their items twice. The first pass finds the run that each thread leaves open. The second pass gives each
// item its outputs.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_segments(Inputs inputs, Segments segments, Results results)
{
    __shared__ WarpTile tiles[kTileWarps];
    __shared__ State carry;  // state of the items of the open segment in the tiles that the way has passed
    const Index first_segment = Index(blockIdx.x) * block_segments(segments.length);
    const Index last_segment =
        min(first_segment + block_segments(segments.length), segments.num_segments) - 1;
    const Index begin = segment_begin(segments, first_segment);
    const Index end = segment_end(segments, last_segment);
    WarpTile& tile = tiles[threadIdx.x / kWarpThreads];
    const Index num_tiles = (end - begin + kTileItems - 1) / kTileItems;
    #pragma unroll 1
    for (Index turn = 0; turn < num_tiles; ++turn) {
        //% if reverse
        const Index tile_begin = begin + (num_tiles - 1 - turn) * kTileItems;
        //% else
        const Index tile_begin = begin + turn * kTileItems;
        //% end
        const Own own = own_items(tile_begin, min(tile_begin + kTileItems, end));
        start_copy(tile, inputs, own);
        //% if scan_places
        Way way = {};
        if (own.count > 0)
            way = way_from(segments, first_on_way(own), first_segment, last_segment);
        //% else
        const Way way = way_of(segments, own.begin, own.count);
        //% end
        finish_copy();
        const Run run = fold_own(inputs, segments, tile, own, way);
        const Run before = block_scan_runs(run);
        // A segment that goes on from tile to tile is the block's only one.
        State state = before.total;
        if (turn > 0 && !before.ends)
            state = threadIdx.x == 0 ? carry : join_on_way(carry, before.total);
        scan_own(inputs, segments, results, tile, own, way, state);
        if (turn + 1 < num_tiles) {
            // Threads read the carry behind the barriers of block_scan_runs().
            __syncthreads();  // all threads have read the last one
            if (threadIdx.x == kBlockThreads - 1)
                carry = run.ends ? run.total : join_on_way(state, run.total);
        }
    }
}
