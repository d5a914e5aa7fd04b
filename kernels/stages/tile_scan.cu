//% stage   tile_scan
//% title   Equal tiles, a segmented scan in each block, carries fixed up in parallel
//% after   thread_per_segment
//% source  Sengupta, Harris, Zhang & Owens 2007, section 3; Blelloch 1990
//% layout  whole, uniform, offsets, ranges
//% needs   associative, state_bytes <= 64
//% tune    block_threads = 256, 64, 128
//% tune    items_per_thread = 8, 4, 16
//% let     num_tiles = ceil_div(num_items, block_threads * items_per_thread)
//% let     num_groups = ceil_div(num_tiles, block_threads)
//% scratch tile_heads : State[num_tiles]
//% scratch head_segments : Index[num_tiles]
//% scratch tile_totals : State[num_tiles]
//% scratch tile_ends : bool[num_tiles]
//% scratch group_totals : State[num_groups]
//% scratch group_ends : bool[num_groups]
//% launch  scan_tiles     grid = num_tiles   block = block_threads
//% launch  reduce_groups  grid = num_groups  block = block_threads
//% launch  fix_up         grid = num_groups  block = block_threads
//% if allows_empty && !uniform
//% launch  store_empty    grid = ceil_div(num_segments, block_threads)  block = block_threads
//% end
//% use     parts/segments/segment_items.cuh
//% use     parts/segments/find_segment.cuh
//% use     parts/reduce/block_scan_runs.cuh

// A block takes one tile of consecutive items, and a thread takes items_per_thread consecutive items of the
// tile. A segment that begins and ends in one thread is stored at once. A segment that began in an earlier
// thread is joined with the totals of the threads between. If it began before the tile, its part in this tile
// becomes the tile's head, which waits for fix_up.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
scan_tiles(Inputs inputs,
           Segments segments,
           Results results,
           //% number block_threads
           //% number items_per_thread
           State* tile_heads,
           Index* head_segments,
           State* tile_totals,
           bool* tile_ends)
{
    const Index tile_items = block_threads * items_per_thread;
    const Index tile_begin = Index(blockIdx.x) * tile_items;
    const Index tile_end = min(tile_begin + tile_items, segments.num_items);
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

    const Index begin = tile_begin + threadIdx.x * items_per_thread;
    const Index end = min(begin + items_per_thread, tile_end);
    Run run = {identity(), false};
    State head = identity();  // total of the thread's items up to the first end of a segment
    Index head_segment = 0;
    Index head_begin = 0;
    if (begin < end) {
        Index segment = find_segment(segments, begin, first_segment, last_segment);
        Index from = segment_begin(segments, segment);
        Index to = segment_end(segments, segment);
        // A thread's items lie in one or two sectors of memory. So the loop waits for few loads, although it
        // is not unrolled.
        #pragma unroll 1
        for (Index item = begin; item < end; ++item) {
            const Index position = item - from;
            //% if ranges
            const Index index = segments.begins[segment] + position;
            run.total = combine(run.total, load_item(inputs, index, position, segment));
            //% else
            run.total = combine(run.total, load_item(inputs, item, position, segment));
            //% end
            if (item + 1 < to)
                continue;

            if (run.ends) {
                store(results, segment, to - from, run.total);
            } else {
                head = run.total;
                head_segment = segment;
                head_begin = from;
            }
            run = {identity(), true};
            if (item + 1 < end) {
                ++segment;
                //% if offsets || ranges
                if (segment_end(segments, segment) == item + 1)  // empty: finds the next segment with items
                    segment = find_segment(segments, item + 1, segment, last_segment);
                //% end
                from = item + 1;
                to = segment_end(segments, segment);
            }
        }
    }

    const Run before = block_scan_runs(run);
    if (run.ends) {
        const Index length = segment_end(segments, head_segment) - head_begin;
        const bool waits = !before.ends && head_begin < tile_begin;
        head = combine(before.total, head);
        if (waits)
            tile_heads[blockIdx.x] = head;
        else
            store(results, head_segment, length, head);
        if (!before.ends)
            head_segments[blockIdx.x] = waits ? head_segment : segments.num_segments;
    }
    if (threadIdx.x == block_threads - 1) {
        const Run tile = join(before, run);
        tile_totals[blockIdx.x] = tile.total;
        tile_ends[blockIdx.x] = tile.ends;
        if (!tile.ends)
            head_segments[blockIdx.x] = segments.num_segments;  // no segment ends here, so no head waits
    }
}

// A group consists of block_threads consecutive tiles. This joins their runs to the run of the group.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce_groups(Segments segments,
              //% number block_threads
              //% number items_per_thread
              const State* tile_totals,
              const bool* tile_ends,
              State* group_totals,
              bool* group_ends)
{
    const Index tile = Index(blockIdx.x) * block_threads + threadIdx.x;
    Run run = {identity(), false};
    const bool is_tile = tile * (block_threads * items_per_thread) < segments.num_items;
    if (is_tile)
        run = {tile_totals[tile], tile_ends[tile]};
    const Run before = block_scan_runs(run);
    if (threadIdx.x == block_threads - 1) {
        const Run group = join(before, run);
        group_totals[blockIdx.x] = group.total;
        group_ends[blockIdx.x] = group.ends;
    }
}

// Each block joins the runs of all earlier groups, then scans the tiles of its own group. If the head of a
// tile waits, it is joined with the total of all items from its segment's begin to the tile.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
fix_up(Segments segments,
       Results results,
       //% number block_threads
       //% number items_per_thread
       const State* tile_heads,
       const Index* head_segments,
       const State* tile_totals,
       const bool* tile_ends,
       const State* group_totals,
       const bool* group_ends)
{
    const int share = (int(blockIdx.x) + block_threads - 1) / block_threads;
    Run run = {identity(), false};
    #pragma unroll 1
    for (int k = 0; k < share; ++k) {
        const int group = threadIdx.x * share + k;
        if (group < int(blockIdx.x))
            run = join(run, {group_totals[group], group_ends[group]});
    }
    __shared__ Run carry;
    const Run earlier = block_scan_runs(run);
    if (threadIdx.x == block_threads - 1)
        carry = join(earlier, run);

    const Index tile = Index(blockIdx.x) * block_threads + threadIdx.x;
    run = {identity(), false};
    const bool is_tile = tile * (block_threads * items_per_thread) < segments.num_items;
    if (is_tile)
        run = {tile_totals[tile], tile_ends[tile]};
    const Run inside = block_scan_runs(run);  // its barriers make the carry visible to all threads
    const Run before = join(carry, inside);
    if (!is_tile || head_segments[tile] == segments.num_segments)
        return;
    const Index segment = head_segments[tile];
    const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
    store(results, segment, length, combine(before.total, tile_heads[tile]));
}
//% if allows_empty && !uniform

// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
store_empty(Segments segments,
            //% number block_threads
            Results results)
{
    const Index segment = Index(blockIdx.x) * block_threads + threadIdx.x;
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store(results, segment, 0, identity());
}
//% end
