//% stage   running_tiles
//% title   Running results: equal tiles in one pass, states of open segments by look-back
//% after   tile_scan
//% source  Merrill & Garland 2016; Sengupta, Harris, Zhang & Owens 2007, section 3
//% layout  whole, uniform, offsets, ranges
//% needs   scans, associative, state_bytes <= 128
//% tune    block_threads = 256, 64, 128
//% tune    items_per_thread = 16, 4, 8
//% fits    items_per_thread == 4 || items_per_thread * state_bytes <= 64
//% let     num_tiles = ceil_div(num_items, block_threads * items_per_thread)
//% scratch ticket : u64[1] zero
//% scratch tile_states : u64[num_tiles * ceil_div(state_bytes, 4)] zero
//% launch  scan_tiles  grid = num_tiles  block = block_threads
//% if (keeps_results || map) && allows_empty && !uniform
//% use     parts/segments/store_empty.cuh
//% end
//% use     parts/segments/place.cuh
//% use     parts/reduce/block_scan_runs.cuh
//% use     parts/tiles/look_back_states.cuh

constexpr int kTileItems = kBlockThreads * kItemsPerThread;

// A thread takes its items in steps. The kScanItems items of a step are loaded together.
//% if reverse
__device__ __forceinline__ Index step_begin(Index begin, int done)
{
    return begin + kItemsPerThread - kScanItems - done;
}
__device__ __forceinline__ int step_item(int k) { return kScanItems - 1 - k; }
//% else
__device__ __forceinline__ Index step_begin(Index begin, int done) { return begin + done; }
__device__ __forceinline__ int step_item(int k) { return k; }
//% end

//% if !ranges && !uses_position && !uses_segment && element_bytes > 0
// load_step() loads `count` items from `first` on; lift_step() lifts item `at` of them.
__device__ __forceinline__ Items load_step(const Inputs& inputs, Index first, int count)
{
    return load_items(inputs, first, count);
}
__device__ __forceinline__ State lift_step(const Inputs& inputs, const Items& items, int at, Index index,
                                           Index, Index)
{
    return lift_item(inputs, items, at, index);
}
//% else
// Ranges, and operators whose lift uses places, need no vectors: each item is loaded when it is lifted.
struct Step {};
__device__ __forceinline__ Step load_step(const Inputs&, Index, int) { return {}; }
__device__ __forceinline__ State lift_step(const Inputs& inputs, Step, int, Index index, Index position,
                                           Index segment)
{
    return load_item(inputs, index, position, segment);
}
//% end

// A block takes a tile of consecutive items, and a thread takes kItemsPerThread consecutive items of the
// tile.
//% if reverse
// Tiles, threads and items follow each other from the last item to the first, which is the way of the scan.
//% else
// Tiles, threads and items follow each other from the first item to the last, which is the way of the scan.
//% end
// Blocks take tiles by tickets, along the way of the scan, so that all tiles before are done or under way.
// Threads pass their items twice, and find them in the cache the second time. The first pass finds the run
// that each thread leaves open. The second pass gives each item its outputs. If the tile begins inside of a
// segment, one warp looks back for the state of that segment between the two passes.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_tiles(Inputs inputs, Segments segments, Results results, u64* ticket, volatile u64* tile_states)
{
    __shared__ u64 taken;
    __shared__ Run of_tile;    // the tile's run; `ends` is true if the scan enters a segment in the tile
    __shared__ bool is_inside;  // true if the tile begins inside of a segment
    __shared__ State carry;    // state of that segment's items in earlier tiles
    if (threadIdx.x == 0) {
        taken = atomicAdd(ticket, 1ull);
        // The last ticket sets the lower half to 0 and adds 1 to the launch's number in the upper half.
        if (unsigned(taken) == gridDim.x - 1u)
            atomicAdd(ticket, (1ull << 32) - gridDim.x);
    }
    __syncthreads();  // thread 0 has written the ticket
    const unsigned launch = unsigned(taken >> 32);
    const Index turn = Index(unsigned(taken));
    //% if reverse
    const Index tile_begin = (Index(gridDim.x) - 1 - turn) * kTileItems;
    const Index begin = tile_begin + (kBlockThreads - 1 - int(threadIdx.x)) * kItemsPerThread;
    //% else
    const Index tile_begin = turn * kTileItems;
    const Index begin = tile_begin + int(threadIdx.x) * kItemsPerThread;
    //% end
    const Index tile_end = min(tile_begin + kTileItems, segments.num_items);
    const Index end = min(begin + kItemsPerThread, tile_end);
    //% if offsets || ranges
    __shared__ Index bounds[2];  // the segments of the tile's first and last item
    if (threadIdx.x < 2) {
        const Index item = threadIdx.x == 0 ? tile_begin : tile_end - 1;
        bounds[threadIdx.x] = find_segment(segments, item, 0, segments.num_segments - 1);
    }
    __syncthreads();  // both bounds are written
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];
    //% else
    const Index first_segment = 0;
    const Index last_segment = segments.num_segments - 1;
    //% end

    Place entered = {};  // the segment of the thread's first item on the way
    if (begin < end) {
        //% if reverse
        const Index item = end - 1;
        //% else
        const Index item = begin;
        //% end
        entered = place_of(segments, find_segment(segments, item, first_segment, last_segment));
        if (threadIdx.x == 0)
            is_inside = turn > 0 && !is_entry(entered, item);
    } else if (threadIdx.x == 0) {
        is_inside = false;  // thread 0 lacks items only in the first tile of a reverse scan
    }

    Run run = {identity(), false};
    Place place = entered;
    #pragma unroll 1
    for (int done = 0; done < kItemsPerThread; done += kScanItems) {
        const Index first = step_begin(begin, done);
        const int count = int(max(min(end - first, Index(kScanItems)), Index(0)));
        const auto items = load_step(inputs, first, count);
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = step_item(k);
            if (at >= count)
                continue;
            const Index item = first + at;
            go_to_item(place, segments, item, first_segment, last_segment);
            const State own = lift_step(inputs, items, at, element_of(segments, place, item),
                                        item - place.begin, place.segment);
            const bool enters = is_entry(place, item);
            run = {enters ? own : join_on_way(run.total, own), run.ends || enters};
        }
    }

    const Run before = block_scan_runs(run);
    if (threadIdx.x == kBlockThreads - 1)
        of_tile = join(before, run);
    __syncthreads();  // the tile's run is written
    if (threadIdx.x < kWarpThreads) {
        const bool is_known = of_tile.ends || turn == 0;
        if (threadIdx.x == 0)
            tell_state(tile_states, turn, launch, is_known ? kWholeState : kOwnState, of_tile.total);
        if (is_inside) {
            const State state = look_back_states(tile_states, turn, launch);
            if (threadIdx.x == 0) {
                carry = state;
                if (!is_known)
                    tell_state(tile_states, turn, launch, kWholeState, join_on_way(state, of_tile.total));
            }
        }
    }
    __syncthreads();  // the carry is written

    State state = before.total;
    if (is_inside && !before.ends)
        state = threadIdx.x == 0 ? carry : join_on_way(carry, before.total);
    place = entered;
    #pragma unroll 1
    for (int done = 0; done < kItemsPerThread; done += kScanItems) {
        const Index first = step_begin(begin, done);
        const int count = int(max(min(end - first, Index(kScanItems)), Index(0)));
        const auto items = load_step(inputs, first, count);
        //% if !ranges
        const ScanItems columns = load_scan_items(inputs, first, count);
        ScanOutputs outputs = {};
        //% end
        #pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int at = step_item(k);
            if (at >= count)
                continue;
            const Index item = first + at;
            go_to_item(place, segments, item, first_segment, last_segment);
            const Index index = element_of(segments, place, item);
            const Index position = item - place.begin;
            const State own = lift_step(inputs, items, at, index, position, place.segment);
            const bool enters = is_entry(place, item);
            const State passed = enters ? identity() : state;
            state = enters ? own : join_on_way(state, own);
            //% if ranges
            const ScanItems columns = load_scan_items(inputs, index, 1);
            ScanOutputs outputs = {};
            keep_scanned(outputs, 0,
                         scan_item(inputs, columns, 0, passed, state, index, position, place.segment));
            store_scanned(results, index, 1, outputs);
            //% else
            keep_scanned(outputs, at,
                         scan_item(inputs, columns, at, passed, state, index, position, place.segment));
            //% end
            //% if keeps_results || map
            if (is_exit(place, item))
                store(results, place.segment, place.end - place.begin, state);
            //% end
        }
        //% if !ranges
        store_scanned(results, first, count, outputs);
        //% end
    }
}
