//% stage   lean_stream
//% title   Each warp streams an equal share, leaves the run behind each item, reads totals by position
//% after   warp_stream
//% source  Equal shares: Merrill & Garland 2016. Segmented scan: Sengupta, Harris, Zhang & Owens 2007
//% layout  flags, keys, offsets
//% let     least_own = 32 * (8 * (element_bytes + state_bytes) + 16) + 4 * state_bytes + 2048
//% needs   associative, element_bytes > 0, state_bytes <= 64, !uses_position, !uses_segment
//% needs   least_own + 1024 + 256 * state_bytes <= 46000
//% tune    items_per_thread = 32, 8, 16, 64
//% tune    byte_marks = 0, 1
//% tune    ring_offsets = 512, 256, 1024
//% tune    held_totals = 512, 256, 1024
//% tune    blocks_per_multiprocessor = 2, 1, 3, 4, 5, 6, 8, 10, 12, 16
//% tune    block_threads = 256, 32, 64, 128, 224, 320, 384, 512, 640
//% let     step_items = element_bytes == 1 ? min(16, items_per_thread) : element_bytes == 2 ? 8 : 4
//% let     line_items = element_bytes >= 4 ? 32 : 128
//% let     row_bytes = items_per_thread * state_bytes
//% let     state_row = row_bytes + (row_bytes / 16 % 2 == 0 ? 16 : 0)
//% let     ends_at_once = byte_marks == 1 && index_bytes == 4 ? 3 : 2
//% let     totals_at_once = costly_combine ? 1 : state_bytes > 4 ? 2 : ends_at_once
//% let     marks_bytes = byte_marks == 1 ? 32 * items_per_thread : 4 * items_per_thread
//% let     own_bytes = 32 * items_per_thread * element_bytes + 32 * state_row + state_bytes + marks_bytes + 16
//% let     ring_bytes = ring_offsets * index_bytes + 512
//% let     held_bytes = (held_totals + 1) * (state_bytes + (offsets ? tells_empty : 0))
//% let     desk_bytes = ceil_div(own_bytes + ring_bytes + held_bytes, 128) * 128
//% let     reserved_bytes = 1024
//% let     static_bytes = block_threads / 32 * (state_bytes + 8) + reserved_bytes + 176
//% let     block_bytes = block_threads / 32 * desk_bytes + static_bytes
//% let     all_bytes = block_shared_bytes + reserved_bytes
//% where   block_bytes <= block_shared_bytes
//% where   block_threads * blocks_per_multiprocessor <= 2048
//% fits    block_bytes * blocks_per_multiprocessor <= all_bytes
//% where   byte_marks == 0 || items_per_thread >= 16
//% use     parts/tiles/share_cuts.cuh
//% let     tile_items = items_per_thread * 32
//% let     most_blocks = max(1, ceil_div(num_places, tile_items * (block_threads / 32)))
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% if finds_offsets
//% let     num_blocks = num_items == 0 ? 0 : min(resident, most_blocks)
//% else
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, most_blocks)
//% end
//% scratch block_heads : State[num_blocks]
//% scratch block_totals : State[num_blocks]
//% scratch block_waiting : Index[num_blocks]
//% scratch ticket : unsigned[1] zero
//% if finds_offsets
//% use     parts/segments/find_offsets.cuh
//% end
//% launch  stream  grid = num_blocks  block = block_threads  shared = block_threads / 32 * desk_bytes
//% use     parts/tiles/shares.cuh
//% if gathers
//% use     parts/elements/lift_tile.cuh
//% end
//% use     parts/tiles/lean_desk.cuh

// Walks a lane's row and writes the run behind each item. No run goes past the end of a segment. Each row but
// the first of the tile begins a new run.
//% if gathers
// The row holds the lifted states of its items, which the runs replace.
__device__ __forceinline__ State walk_row(Bits begins, char* states, State run)
//% else
__device__ __forceinline__ State walk_row(const Inputs& inputs,
                                          const Items (&items)[kSteps],
                                          Index row_begin,
                                          //% if has_append
                                          Bits ends,
                                          //% else
                                          Bits begins,
                                          //% end
                                          char* states,
                                          State run)
//% end
{
    #pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        //% if gathers
        States behind = *reinterpret_cast<const States*>(states + step * kStepBytes);
        //% else
        const Items& some = items[step];
        States behind;
        //% end
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const int item = step * kStepItems + k;
            //% if has_append && !gathers
            run = append_item(run, inputs, some, k, row_begin + item);
            behind.at[k] = run;
            if (ends >> item & 1)
                run = identity();
            //% else
            //% if gathers
            State state = behind.at[k];
            //% else
            State state = lift_item(inputs, some, k, row_begin + item);
            //% end
            const bool is_begin = begins >> item & 1;
            //% if scalar_state
            if (!is_begin)  // a single instruction if combine() is one
                state = combine(run, state);
            run = state;
            //% else
            const State longer = combine(run, state);
            run = is_begin ? state : longer;
            //% end
            behind.at[k] = run;
            //% end
        }
        *reinterpret_cast<States*>(states + step * kStepBytes) = behind;
    }
    return run;
}

// Returns the run that a lane wrote behind the item at `place`. Behind the tile's last item stands the
// identity.
__device__ __forceinline__ State state_at(const char* states, unsigned place)
{
    constexpr int padding = kStateRow - kRowBytes;
    const unsigned row = place / kItemsPerThread;
    return *reinterpret_cast<const State*>(states + place * sizeof(State) + row * padding);
}

// A warp folds its share tile by tile. Lane k takes kItemsPerThread consecutive items of a tile, walks them
// once, and writes the run behind every item to shared memory. A scan across the lanes finds the run that is
// open before each row. Then each lane takes a segment and reads the run behind the segment's last item. If
// the segment began before the row of that item, the run before the row is joined in front. An empty segment
// reads the identity.
//
// Totals are collected and stored together, because memory takes long rows of writes faster than short ones.
// If more segments end in a tile than there are offsets or room for totals, the tile is walked again, with a
// mark behind the last segment that has a total. The same mark stands before the share's first item, so that
// nothing is folded across it. The next tile and its offsets are copied to shared memory while this tile is
// folded. No warp waits for another.
//
// The first segment that ends in the share may have begun in an earlier share. Its part in this share is the
// share's head, which waits for join_shares().
__device__ __forceinline__ Share stream_share(const Inputs& inputs,
                                              const Segments& segments,
                                              const Results& results,
                                              const Desk& desk,
                                              int ring_offsets,
                                              int held_totals,
                                              Index share,
                                              Index num_shares)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Cut cut = find_cut(segments, share, num_shares);
    const Index begin = __shfl_sync(kFullMask, cut.item, 0);
    const Index end = __shfl_sync(kFullMask, cut.item, kWarpThreads - 1);
    const Index first_segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    // Tiles begin where lines of memory begin, so the first tile may hold some items of the share before.
    Index tile_begin = begin - begin % kLineItems;
    Index next = first_segment;                            // the first segment that has no total yet
    Index copied = next - unsigned(next) % kChunkOffsets;  // offsets before it are in the ring or under way
    const bool began_before =
        first_segment < end_segment && segment_begin(segments, first_segment) < begin;
    const Index first_stored = first_segment + (began_before ? 1 : 0);
    #pragma unroll 1
    for (int k = lane; k < kMarksBytes / 4; k += kWarpThreads)
        reinterpret_cast<unsigned*>(desk.marks)[k] = 0;
    if (lane == 0) {
        *reinterpret_cast<State*>(desk.states + kStateRow * kWarpThreads) = identity();
        desk.staged[0] = identity();
    }
    Index base = next;         // segment of the first total that waits to be stored
    //% if tells_empty
    unsigned char* const filled =  // for each total that waits, whether its segment has items
        reinterpret_cast<unsigned char*>(desk.staged + 1 + held_totals);
    //% end
    State carry = identity();  // in lane 0: the run that is open before the tile
    State before;              // the run that is open before this lane's row
    bool is_marked = true;     // true if nothing may be joined before the tile's first items
    bool is_over;
    do {
        if (is_marked) {
            wait_for_copies();
            __syncwarp();  // no copy to the tile is under way
            copy_tile(*desk.tile, inputs, tile_begin, segments.num_items);
            fill_ring(segments, desk.ring, ring_offsets, next, end_segment, copied);
        }
        wait_for_copies();
        __syncwarp();  // tile and offsets are copied; states, totals and ring have been read
        const bool is_last = end - tile_begin <= kTileItems;
        // One tile under way for each warp is enough. With more, some multiprocessors only get ahead of
        // others.
        //% if gathers
        lift_tile(inputs, *desk.tile, tile_begin, segments.num_items, desk.states);
        __syncwarp();  // all items have been lifted
        if (!is_last)
            copy_tile(*desk.tile, inputs, tile_begin + kTileItems, segments.num_items);
        //% else
        Items items[kSteps];
        #pragma unroll
        for (int step = 0; step < kSteps; ++step)
            items[step] = take_items(*desk.tile, step);
        __syncwarp();  // all items have been taken
        if (!is_last)
            copy_tile(*desk.tile, inputs, tile_begin + kTileItems, segments.num_items);
        //% end
        Index known = copied - 1;  // the ring holds the ends of the segments before this one
        fill_ring(segments, desk.ring, ring_offsets, next, end_segment, copied);
        if (is_marked) {
            if (lane == 0) {
                Index* const first = desk.ring + (unsigned(next) & (ring_offsets - 1));
                // The first segment counts from the share's begin on, though it may have begun before.
                const Index from = max(begin, *first);
                *first = from;
                if (first < desk.ring + kChunkOffsets)
                    first[ring_offsets] = from;
                mark(desk.marks, from - tile_begin - 1);
            }
            __syncwarp();  // all lanes see the begin of the first segment
        }
        known = min(min(known, end_segment), next + held_totals / 2);
        const Index ended = mark_ends(desk, ring_offsets, tile_begin, next, known);
        bool is_done = ended < known || ended == end_segment;
        // The tile is also done if a segment ends with its last item. Empty segments behind that item wait
        // for the next tile.
        if (!is_done && !is_last)
            is_done = desk.ring[unsigned(ended) & (ring_offsets - 1)] - tile_begin >= kTileItems;
        is_done = __any_sync(kFullMask, is_done);  // without this vote, the compiler writes the loop twice
        __syncwarp();  // all ends are marked
        const Bits ends = take_marks(desk.marks);

        //% if has_append && !gathers
        if (lane != 0)
            carry = identity();
        //% end
        //% if gathers
        State run = walk_row(Bits(ends << 1 | Bits(lane != 0)), desk.states + lane * kStateRow, carry);
        //% else
        State run = walk_row(inputs,
                             items,
                             //% if has_append
                             tile_begin + lane * kItemsPerThread, ends,
                             //% else
                             tile_begin + lane * kItemsPerThread, Bits(ends << 1 | Bits(lane != 0)),
                             //% end
                             desk.states + lane * kStateRow, carry);
        //% end
        //% if !has_append || gathers
        if (ends >> (kItemsPerThread - 1) & 1)
            run = identity();
        //% end
        // A lane's run reaches back to the last lane in which a segment ends.
        const unsigned lanes = __ballot_sync(kFullMask, ends != 0);
        const int span = lane - max(31 - __clz(lanes & kFullMask >> (31 - lane)), 0);
        //% if costly_combine
        #pragma unroll 1
        //% else
        #pragma unroll
        //% end
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_up(run, delta);
            if (delta <= span)
                run = combine(earlier, run);
        }
        const State rotated = shuffle(run, (lane + kWarpThreads - 1) % kWarpThreads);
        before = lane == 0 ? identity() : rotated;
        State* place_staged = desk.staged + 1 + (next - base) + lane;
        __syncwarp();  // the runs of all rows are written
        // Reads the totals of the segments that end in the tile.
        //% if tells_empty
        unsigned char* place_filled = filled + (next - base) + lane;
        //% end
        #pragma unroll 1
        for (; next < ended; next += kTotalsAtOnce * kWarpThreads) {
            const Index* const mine = desk.ring + (unsigned(next + lane) & (ring_offsets - 1));
            State totals[kTotalsAtOnce];
            bool are_filled[kTotalsAtOnce];
            #pragma unroll
            for (int k = 0; k < kTotalsAtOnce; ++k) {
                Index from = 0;
                Index behind = 0;
                if (next + k * kWarpThreads + lane < ended) {
                    from = mine[k * kWarpThreads] - tile_begin;
                    behind = mine[k * kWarpThreads + 1] - tile_begin;
                }
                are_filled[k] = from < behind;
                const unsigned place = are_filled[k] ? unsigned(behind - 1) : unsigned(kTileItems);
                const State earlier = shuffle(before, place / kItemsPerThread % kWarpThreads);
                totals[k] = state_at(desk.states, place);
                if (from < Index(place / kItemsPerThread * kItemsPerThread))
                    totals[k] = combine(earlier, totals[k]);
            }
            #pragma unroll
            for (int k = 0; k < kTotalsAtOnce; ++k, place_staged += kWarpThreads) {
                if (next + k * kWarpThreads + lane < ended)
                    *place_staged = totals[k];
                //% if tells_empty
                if (next + k * kWarpThreads + lane < ended)
                    *place_filled = are_filled[k];
                place_filled += kWarpThreads;
                //% end
            }
        }
        next = ended;
        is_over = is_last && is_done;
        if (__any_sync(kFullMask, next - base > held_totals / 2 || is_over)) {
            __syncwarp();  // all totals are written
            #pragma unroll 2
            for (Index segment = max(base, first_stored) + lane; segment < next; segment += kWarpThreads)
                //% if finds_offsets && !uses_length
                store(results, segment, 1,  // store() only tests that a length is not 0
                //% elif tells_empty
                store(results, segment, filled[segment - base],  // store() only tests whether a length is 0
                //% else
                store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment),
                //% end
                      desk.staged[1 + segment - base]);
            if (lane == 0 && base == first_segment && next > base)
                desk.staged[0] = desk.staged[1];  // the share's head, if it has one
            base = next;
        }
        is_marked = !is_done;
        if (is_done) {
            carry = rotated;
            tile_begin += kTileItems;
        }
    } while (!is_over);

    // The run that is open at the share's end is read like the total of a segment that ends there.
    tile_begin -= kTileItems;
    const Index from = desk.ring[unsigned(next) & (ring_offsets - 1)] - tile_begin;
    const unsigned last = unsigned(max(end - 1 - tile_begin, Index(0)));
    const State earlier = shuffle(before, last / kItemsPerThread);
    State total = state_at(desk.states, last);
    if (from < Index(last / kItemsPerThread * kItemsPerThread))
        total = combine(earlier, total);
    if (from >= end - tile_begin)
        total = identity();
    __syncwarp();  // the head is written
    const State head = desk.staged[0];
    return {head, total, next == first_segment ? kNoEnd : began_before ? first_segment : kNoneWaits};
}

//% if at_launch
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1)
//% else
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, kBlocksPerMultiprocessor)
//% end
stream(Inputs inputs,
       //% if finds_offsets
       Given segments,
       //% else
       Segments segments,
       //% end
       Results results,
       //% number block_threads
       //% number ring_offsets
       //% number held_totals
       //% number desk_bytes
       State* block_heads,
       State* block_totals,
       Index* block_waiting,
       //% if finds_offsets
       const Index* offsets,
       u64* large_counts,
       //% end
       unsigned* ticket)
{
    //% if finds_offsets
    const Segments ends = {segments, offsets, *segments.num_found};
    clear_counts(segments, large_counts);
    //% else
    const Segments& ends = segments;
    //% end
    extern __shared__ Row desks[];
    __shared__ bool last;
    // Neighbouring blocks, which may run on one multiprocessor, take shares from both halves of the input. If
    // segments are short in one half and long in the other, issue slots and memory are then both busy.
    const unsigned half = gridDim.x / 2;
    const Index block = Index(2 * half == gridDim.x ? blockIdx.x % 2 * half + blockIdx.x / 2 : blockIdx.x);
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads;
    char* const own = reinterpret_cast<char*>(desks) + warp * desk_bytes;
    const Share share = stream_share(inputs, ends, results, lay_out(own, ring_offsets), ring_offsets,
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
            all = join_shares(ends, results, all, *reinterpret_cast<Share*>(own + k * desk_bytes));
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
    join_all_shares(ends, results, block_heads, block_totals, block_waiting);
}
