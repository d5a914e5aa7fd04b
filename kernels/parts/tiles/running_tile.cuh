//% use parts/segments/way.cuh
//% use parts/reduce/on_way.cuh
//% use parts/reduce/run.cuh
//% if !ranges && !wide_scan
//% use parts/elements/tile_columns.cuh
//% end
// Running results of a tile: a warp has consecutive rows of items, a lane one row of kItemsPerThread items.
//% if reverse
// The way of the scan passes blocks, warps, lanes and items from the last to the first.
//% else
// The way of the scan passes blocks, warps, lanes and items from the first to the last.
//% end
constexpr int kTileWarps = kBlockThreads / kWarpThreads;

//% if reverse
__device__ __forceinline__ int way_warp() { return kTileWarps - 1 - int(threadIdx.x) / kWarpThreads; }
__device__ __forceinline__ int way_row() { return kWarpThreads - 1 - int(threadIdx.x) % kWarpThreads; }
__device__ __forceinline__ int way_step(int done) { return kItemsPerThread - kScanItems - done; }
__device__ __forceinline__ int way_item(int k) { return kScanItems - 1 - k; }
//% else
__device__ __forceinline__ int way_warp() { return int(threadIdx.x) / kWarpThreads; }
__device__ __forceinline__ int way_row() { return int(threadIdx.x) % kWarpThreads; }
__device__ __forceinline__ int way_step(int done) { return done; }
__device__ __forceinline__ int way_item(int k) { return k; }
//% end

// A warp's shared memory. Elements and outputs cross it, so that neighbouring lanes copy neighbouring vectors
// from and to the arrays.
struct WarpTile {
    //% if !ranges && !wide_scan && !uses_position && !uses_segment && element_bytes > 0
    Tile elements;
    //% end
    //% if !ranges && !wide_scan
    ScannedTile outputs;
    //% end
};

// The items of a thread, and those of its warp.
struct Own {
    Index begin;  // the first item in the order of the data
    int count;
    int row;  // in the warp's tile
    Index warp_begin;
    Index warp_count;  // not positive if the warp has no items; may be more than a tile
};

__device__ __forceinline__ Own own_items(Index tile_begin, Index tile_end)
{
    const int row = way_row();
    const Index warp_begin = tile_begin + way_warp() * kWarpThreads * kItemsPerThread;
    const Index begin = warp_begin + row * kItemsPerThread;
    const int count = int(max(min(tile_end - begin, Index(kItemsPerThread)), Index(0)));
    return {begin, count, row, warp_begin, tile_end - warp_begin};
}

// Returns the item of a thread that the way passes first. The thread must have items.
//% if reverse
__device__ __forceinline__ Index first_on_way(const Own& own) { return own.begin + own.count - 1; }
//% else
__device__ __forceinline__ Index first_on_way(const Own& own) { return own.begin; }
//% end

//% if !ranges && !wide_scan && !uses_position && !uses_segment && element_bytes > 0
// Starts to copy a warp's elements. They may be taken after finish_copy().
__device__ __forceinline__ void start_copy(WarpTile& tile, const Inputs& inputs, const Own& own)
{
    copy_tile(tile.elements, inputs, own.warp_begin, own.warp_begin + own.warp_count);
}
__device__ __forceinline__ void finish_copy()
{
    wait_for_copies();
    __syncwarp();  // all lanes' copies have come
}

// take_step() takes kScanItems items from item `first` of a thread on; lift_step() lifts item k of them.
__device__ __forceinline__ Items take_step(const WarpTile& tile, const Own& own, int first)
{
    return take_row_items(tile.elements, own.row, first / kScanItems);
}
__device__ __forceinline__ State lift_step(const Inputs& inputs, const Items& items, int k, const Way&, Index,
                                           Index index)
{
    return lift_item(inputs, items, k, index);
}
//% else
// Each item is loaded when it is lifted.
struct Step {};
__device__ __forceinline__ void start_copy(WarpTile&, const Inputs&, const Own&) {}
__device__ __forceinline__ void finish_copy() {}
__device__ __forceinline__ Step take_step(const WarpTile&, const Own&, int) { return {}; }
//% if ranges || scan_places
__device__ __forceinline__ State lift_step(const Inputs& inputs, Step, int, const Way& way, Index item, Index index)
{
    return load_item(inputs, index, item - way.place.begin, way.place.segment);
}
//% else
__device__ __forceinline__ State lift_step(const Inputs& inputs, Step, int, const Way&, Index, Index index)
{
    return load_item(inputs, index, 0, 0);
}
//% end
//% end

// Returns the index in the input of item `item`, which the way has reached.
//% if ranges
__device__ __forceinline__ Index way_element(const Segments& segments, const Way& way, Index item)
{
    return element_of(segments, way.place, item);
}
//% else
__device__ __forceinline__ Index way_element(const Segments&, const Way&, Index item) { return item; }
//% end

//% if ranges || wide_scan || scan_places || uses_tables || scan_uses_tables || element_bytes == 0
// False if the item does not exist.
__device__ __forceinline__ bool is_item(const Own& own, int at) { return at < own.count; }
//% else
// Items that do not exist may be taken: they are zeros in the tile, and no table is read for them. On the way
// they come after all others, or before the entry to the data's last segment.
__device__ __forceinline__ bool is_item(const Own&, int) { return true; }
//% end

// Returns the run that a thread's items leave open.
__device__ __forceinline__ Run fold_own(const Inputs& inputs, const Segments& segments, const WarpTile& tile,
                                        const Own& own, Way way)
{
    //% if ranges || scan_places
    Run run = {identity(), false};
    //% else
    Run run = {identity(), way.entries != 0};
    //% end
    const int num_items = own.warp_count > 0 ? kItemsPerThread : 0;
    #pragma unroll 1
    for (int done = 0; done < num_items; done += kScanItems) {
        const int first = way_step(done);
        const auto items = take_step(tile, own, first);
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = first + way_item(k);
            if (!is_item(own, at))
                continue;
            const Index item = own.begin + at;
            const bool enters = go_on(way, segments, item, k);
            const State state =
                lift_step(inputs, items, way_item(k), way, item, way_element(segments, way, item));
            run.total = enters ? state : join_on_way(run.total, state);
            //% if ranges || scan_places
            run.ends = run.ends || enters;
            //% end
        }
        next_step(way, kScanItems);
    }
    return run;
}

// Writes the outputs of a thread's items. If a segment is open when the way reaches them, `state` is the
// total of this segment's items that the way has passed. All threads of a warp call this function.
__device__ __forceinline__ void scan_own(const Inputs& inputs, const Segments& segments, const Results& results,
                                         WarpTile& tile, const Own& own, Way way, State state)
{
    const int num_items = own.warp_count > 0 ? kItemsPerThread : 0;
    #pragma unroll 1
    for (int done = 0; done < num_items; done += kScanItems) {
        const int first = way_step(done);
        const auto items = take_step(tile, own, first);
        //% if !ranges
        const int count = max(min(own.count - first, kScanItems), 0);
        const ScanItems columns = load_scan_items(inputs, own.begin + first, count);
        ScanOutputs outputs = {};
        //% end
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = first + way_item(k);
            if (!is_item(own, at))
                continue;
            const Index item = own.begin + at;
            const bool enters = go_on(way, segments, item, k);
            const Index index = way_element(segments, way, item);
            const State next = lift_step(inputs, items, way_item(k), way, item, index);
            const State passed = enters ? identity() : state;
            state = enters ? next : join_on_way(state, next);
            //% if ranges || scan_places
            const Index position = item - way.place.begin;
            const Index segment = way.place.segment;
            //% else
            const Index position = 0;  // scan_item() reads no places
            const Index segment = 0;
            //% end
            //% if ranges
            const ScanItems columns = load_scan_items(inputs, index, 1);
            ScanOutputs outputs = {};
            keep_scanned(outputs, 0, scan_item(inputs, columns, 0, passed, state, index, position, segment));
            store_scanned(results, index, 1, outputs);
            //% else
            keep_scanned(outputs, way_item(k), scan_item(inputs, columns, way_item(k), passed, state, index,
                                                         position, segment));
            //% end
            //% if keeps_results || map
            if (is_exit(way.place, item))
                store(results, segment, way.place.end - way.place.begin, state);
            //% end
        }
        next_step(way, kScanItems);
        //% if !ranges && !wide_scan
        put_scanned(tile.outputs, own.row, first, outputs);
        //% elif !ranges
        store_scanned(results, own.begin + first, count, outputs);
        //% end
    }
    //% if !ranges && !wide_scan
    __syncwarp();  // the outputs of all lanes are in the tile
    store_scanned_tile(results, own.warp_begin, own.warp_count, tile.outputs);
    //% end
}
