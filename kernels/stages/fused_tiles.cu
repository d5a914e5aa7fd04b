//% stage   fused_tiles
//% title   Each warp takes whole segments, tile by tile, and maps them while they are in the caches
//% after   warp_stream
//% source  Segmented scan: Sengupta, Harris, Zhang & Owens 2007. Milakov & Gimelshein 2018, Online Normalizer
//% layout  uniform, offsets
//% needs   associative, map, !rows, element_bytes > 0, !uses_position, !uses_segment
//% let     least_bytes = 16 * 32 * 2 * element_bytes + 66 * (state_bytes + value_bytes + 9) + 192
//% needs   least_bytes <= 46000
//% tune    block_threads = 32, 64, 128, 256
//% tune    items_per_thread = 32, 16
//% tune    blocks_per_multiprocessor = 16, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 17, 18, 19, 20, 22, 24, 28, 32
//% let     slot_bytes = state_bytes + value_bytes + index_bytes + 1
//% let     tile_bytes = items_per_thread * 32 * 2 * element_bytes
//% let     desk_bytes = tile_bytes + (items_per_thread * 4 + 2) * slot_bytes + items_per_thread * 8 + 64
//% where   block_threads / 32 * desk_bytes <= 48000
//% where   block_threads * blocks_per_multiprocessor <= 2048
//% let     block_bytes = block_threads / 32 * desk_bytes + 1024
//% fits    blocks_per_multiprocessor * block_bytes <= block_shared_bytes + 1024
//% use     parts/tiles/share_cuts.cuh
//% let     block_items = items_per_thread * block_threads
//% let     most_blocks = max(1, ceil_div(num_places, block_items))
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, most_blocks)
//% launch  reduce  grid = num_blocks  block = block_threads
//% use     parts/segments/segment_items.cuh
//% use     parts/elements/warp_tile.cuh
//% use     parts/reduce/warp_reduce.cuh
//% use     parts/reduce/warp_scan_tails.cuh

//% if costly_combine
constexpr int kCopies = 1;   // copies of the body of a loop that combines
//% else
constexpr int kCopies = 32;  // all rounds are unrolled
//% end
constexpr int kTileItems = kItemsPerThread * kWarpThreads;
constexpr int kSteps = kItemsPerThread / kStepItems;
constexpr int kMapStride = kMapItems * kWarpThreads;
constexpr int kMapSteps = kTileItems / kMapStride;
constexpr int kAlignment = 16;                  // tiles begin at multiples of 16 items, as vectors do
constexpr int kLaneEnds = kItemsPerThread / 8;  // ends of segments that a lane reads at once
constexpr int kMostEnds = kLaneEnds * kWarpThreads;
constexpr int kSlots = kMostEnds + 2;  // one for each end, one before the first, one behind the last
constexpr Index kNoEnd = Index(~0ull >> (65 - 8 * sizeof(Index)));  // the greatest Index

// A warp's part of shared memory. Slot k belongs to the k-th segment of the tile that has items. Slot 0
// belongs to the items before the tile's first segment.
struct alignas(16) Desk {
    Tile tiles[2];  // one is folded while the next one is copied
    State totals[kSlots];
    SegmentValues values[kSlots];
    Index ends[kSlots];
    unsigned tails[kItemsPerThread];  // a bit for each item of the tile: 1 if a slot ends with it
    int first_slots[kItemsPerThread];  // for each word of `tails`, the slot of its first item
    unsigned char numbers[kSlots];    // the slot's segment, counted from the tile's first segment
};

// How many segments end in a tile.
struct Found {
    int num_segments;
    int num_slots;  // of these, segments that have items
};

// Reads the ends of the segments from `segment` on, kLaneEnds for each lane. Segments from `end_segment` on
// get kNoEnd.
__device__ __forceinline__ void read_ends(Index (&ends)[kLaneEnds], const Segments& segments, Index segment,
                                          Index end_segment)
{
    #pragma unroll
    for (int k = 0; k < kLaneEnds; ++k) {
        const Index mine = segment + k * kWarpThreads + int(threadIdx.x) % kWarpThreads;
        ends[k] = mine < end_segment ? segment_end(segments, mine) : kNoEnd;
    }
}

// Finds the segments that begin at `begin` or later and end in the tile. Stores the results of empty
// segments. For each other segment, writes its end and its number to its slot and sets the bit of its last
// item.
__device__ __forceinline__ Found keep_ends(Desk& desk, const Results& results, const Index (&ends)[kLaneEnds],
                                           Index segment, Index begin, Index tile_begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    __syncwarp();  // all lanes are done with the tile before
    if (lane < kItemsPerThread)
        desk.tails[lane] = 0;
    __syncwarp();  // all bits are 0
    Found found = {0, 0};
    Index before = begin;  // end of the segment before the first one of the round
    #pragma unroll
    for (int k = 0; k < kLaneEnds; ++k) {
        if (found.num_segments < k * kWarpThreads)
            break;
        const Index end = ends[k];
        const Index up = __shfl_up_sync(kFullMask, end, 1);
        const bool is_inside = end <= tile_begin + kTileItems;
        const bool has_items = is_inside && end != (lane == 0 ? before : up);
        const unsigned filled = __ballot_sync(kFullMask, has_items);
        if (has_items) {
            const int slot = 1 + found.num_slots + __popc(filled & ((1u << lane) - 1));
            const int last = int(end - tile_begin) - 1;
            desk.ends[slot] = end;
            desk.numbers[slot] = (unsigned char)(k * kWarpThreads + lane);
            atomicOr(&desk.tails[last / 32], 1u << last % 32);
        }
        //% if keeps_results
        if (is_inside && !has_items)
            store(results, segment + k * kWarpThreads + lane, 0, identity());
        //% end
        before = __shfl_sync(kFullMask, end, kWarpThreads - 1);
        found.num_segments += __popc(__ballot_sync(kFullMask, is_inside));
        found.num_slots += __popc(filled);
    }
    if (lane == 0) {
        desk.ends[0] = begin;
        desk.ends[found.num_slots + 1] = kNoEnd;
        desk.numbers[0] = 0;
        desk.numbers[found.num_slots + 1] = 0;
        if (begin > tile_begin)
            atomicOr(&desk.tails[0], 1u << int(begin - tile_begin - 1));
    }
    return found;
}

// Lifts item k of `items`, which is the item at `place` of the input.
__device__ __forceinline__ State lift_at(const Inputs& inputs, const Segments& segments, const Items& items,
                                         int k, Index place)
{
    //% if uses_tables
    // Items behind the last one look nothing up.
    return place < segments.num_items ? lift_item(inputs, items, k, place) : identity();
    //% else
    return lift_item(inputs, items, k, place);
    //% end
}

// Folds a tile: each lane folds kItemsPerThread consecutive items. The run at the last item of a segment is
// the segment's total. If the segment began in an earlier lane, the run of the lanes before is joined in
// front. Also writes the slot of the first item of each word of `tails`.
__device__ __forceinline__ void fold_tile(Desk& desk, const Tile& tile, const Inputs& inputs,
                                          const Segments& segments, Index tile_begin, Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row = lane * kItemsPerThread;
    const unsigned tails = desk.tails[row / 32] >> row % 32 & kFullMask >> (32 - kItemsPerThread);
    int slot = __popc(tails);
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, slot, delta);
        slot += lane >= delta ? earlier : 0;
    }
    slot += (begin > tile_begin ? 0 : 1) - __popc(tails);
    const int first = slot;  // slot of the row's first item
    if (row % 32 == 0)
        desk.first_slots[row / 32] = slot;
    State run = identity();
    #pragma unroll kCopies
    for (int step = 0; step < kSteps; ++step) {
        const Items items = take_items(tile, step);
        const unsigned its_tails = tails >> step * kStepItems;
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const Index place = tile_begin + row + step * kStepItems + k;
            run = combine(run, lift_at(inputs, segments, items, k, place));
            if (its_tails >> k & 1) {
                desk.totals[slot] = run;
                ++slot;
                run = identity();
            }
        }
    }
    const unsigned lanes = __ballot_sync(kFullMask, tails != 0);
    const State before = shuffle_up(warp_scan_tails(run, lanes), 1);
    if (lane > 0 && tails != 0)
        desk.totals[first] = combine(before, desk.totals[first]);
}

//% if map_uses_tables
// Finishes the totals of the tile's segments, and keeps the values that map needs.
__device__ __forceinline__ void finish_tile(Desk& desk, const Inputs& inputs, const Results& results,
                                            Index segment, int num_slots)
//% else
// Finishes the totals of the tile's segments, and keeps the values that map needs. Items outside of these
// segments get the values of the first or last segment. So they are mapped like others, and their outputs are
// not stored.
__device__ __forceinline__ void finish_tile(Desk& desk, const Results& results, Index segment, int num_slots)
//% end
{
    #pragma unroll 1
    for (int slot = 1 + int(threadIdx.x) % kWarpThreads; slot <= num_slots; slot += kWarpThreads) {
        const Index length = desk.ends[slot] - desk.ends[slot - 1];
        const Index its_segment = segment + desk.numbers[slot];
        const State total = desk.totals[slot];
        //% if map_uses_tables
        desk.values[slot] = segment_values(inputs, its_segment, length, total);
        //% else
        const SegmentValues its_values = segment_values(its_segment, length, total);
        desk.values[slot] = its_values;
        if (slot == 1)
            desk.values[0] = its_values;
        if (slot == num_slots)
            desk.values[slot + 1] = its_values;
        //% end
        //% if keeps_results
        store(results, its_segment, length, total);
        //% end
    }
}

// Maps the items of a tile from `begin` to `end` - 1. Neighbouring lanes take neighbouring vectors.
__device__ __forceinline__ void map_tile(const Desk& desk, const Tile& tile, const Inputs& inputs,
                                         const Segments& segments, const Results& results, bool is_aligned,
                                         Index tile_begin, Index begin, Index end, Index segment)
{
    #pragma unroll
    for (int step = 0; step < kMapSteps; ++step) {
        const int item = step * kMapStride + int(threadIdx.x) % kWarpThreads * kMapItems;
        const Index place = tile_begin + item;
        const MapItems items = take_map_items(tile, inputs, item, place,
                                              int(min(segments.num_items - place, Index(kMapItems))));
        const unsigned tails = desk.tails[item / 32];
        int slot = desk.first_slots[item / 32] + __popc(tails & ((1u << item % 32) - 1));
        MapOutputs outputs;
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k) {
            const Index its_begin = slot == 0 ? tile_begin : desk.ends[slot - 1];
            //% if map_uses_tables
            // Items outside of the tile's segments read no table.
            if (place + k >= begin && place + k < end)
                keep_output(outputs, k,
                            map_tile_item(inputs, items, k, desk.values[slot], place + k,
                                          place + k - its_begin, segment + desk.numbers[slot],
                                          desk.ends[slot] - its_begin));
            //% else
            keep_output(outputs, k,
                        map_tile_item(items, k, desk.values[slot], place + k, place + k - its_begin,
                                 segment + desk.numbers[slot], desk.ends[slot] - its_begin));
            //% end
            slot += tails >> (item % 32 + k) & 1;
        }
        if (is_aligned && place >= begin && place + kMapItems <= end) {
            store_vectors(results, place, outputs);
        } else {
            #pragma unroll
            for (int k = 0; k < kMapItems; ++k)
                if (place + k >= begin && place + k < end)
                    store_output(results, place + k, outputs, k);
        }
    }
}

// Folds and maps a segment that is longer than a tile. The whole warp folds it tile by tile, then reads it
// once more to map it. Structs are passed by value: if their addresses were taken, all their members would be
// read from local memory.
__device__ __noinline__ void take_long(Tile& tile, Inputs inputs, Segments segments, Results results,
                                       Index segment)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index begin = segment_begin(segments, segment);
    const Index end = segment_end(segments, segment);
    const Index first_tile = begin - begin % kAlignment;
    State total = identity();  // right only in lane 0
    #pragma unroll 1
    for (Index tile_begin = first_tile; tile_begin < end; tile_begin += kTileItems) {
        copy_tile(tile, inputs, tile_begin, segments.num_items);
        wait_for_copies();
        __syncwarp();  // the tile has been copied
        State run = identity();
        #pragma unroll 1
        for (int step = 0; step < kSteps; ++step) {
            const Items items = take_items(tile, step);
            #pragma unroll
            for (int k = 0; k < kStepItems; ++k) {
                const Index place = tile_begin + lane * kItemsPerThread + step * kStepItems + k;
                if (place >= begin && place < end)
                    run = combine(run, lift_item(inputs, items, k, place));
            }
        }
        total = combine(total, warp_reduce(run));
        __syncwarp();  // all lanes have read the tile
    }
    total = shuffle(total, 0);
    const Index length = end - begin;
    //% if map_uses_tables
    const SegmentValues its_values = segment_values(inputs, segment, length, total);
    //% else
    const SegmentValues its_values = segment_values(segment, length, total);
    //% end
    //% if keeps_results
    if (lane == 0)
        store(results, segment, length, total);
    //% end
    #pragma unroll 1
    for (Index place = first_tile + lane * kMapItems; place < end; place += kMapStride) {
        const Index first = max(place, begin);
        const int count = int(max(min(place + kMapItems, end) - first, Index(0)));
        const MapItems items = load_map_items(inputs, first, count);
        MapOutputs outputs = {};
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                //% if map_uses_tables
                keep_output(outputs, k,
                            map_tile_item(inputs, items, k, its_values, first + k, first + k - begin,
                                          segment, length));
                //% else
                keep_output(outputs, k,
                            map_tile_item(items, k, its_values, first + k, first + k - begin, segment,
                                          length));
                //% end
        if (count > 0)
            store_outputs(results, first, count, outputs);
    }
}

// A warp takes the segments that end in its share of the items, so that no segment is cut. A tile holds as
// many whole segments as fit. The next tile is copied to shared memory while this one is folded and mapped.
// Totals and the values that map needs stay in shared memory, so an element is read from memory once.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs, Segments segments, Results results)
{
    __shared__ Desk desks[kBlockThreads / kWarpThreads];
    const int num_warps = kBlockThreads / kWarpThreads;
    Desk& desk = desks[threadIdx.x / kWarpThreads];
    const Cut cut = find_cut(segments, Index(blockIdx.x) * num_warps + threadIdx.x / kWarpThreads,
                             Index(gridDim.x) * num_warps);
    Index segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    if (segment >= end_segment)
        return;
    Index begin = segment_begin(segments, segment);
    Index tile_begin = begin - begin % kAlignment;
    Index ends[kLaneEnds];
    read_ends(ends, segments, segment, end_segment);
    copy_tile(desk.tiles[0], inputs, tile_begin, segments.num_items);
    const bool is_aligned = outputs_are_aligned(results);
    int turn = 0;
    #pragma unroll 1
    while (segment < end_segment) {
        const Found found = keep_ends(desk, results, ends, segment, begin, tile_begin);
        wait_for_copies();
        __syncwarp();  // the tile has been copied, and its ends are written
        // If no segment ends in the tile, its first segment is longer than a tile and is taken alone.
        const Index next = segment + max(found.num_segments, 1);
        const Index end =
            found.num_segments > 0 ? desk.ends[found.num_slots] : segment_end(segments, segment);
        const Index next_tile = end - end % kAlignment;
        read_ends(ends, segments, next, end_segment);
        if (next < end_segment)
            copy_tile(desk.tiles[turn ^ 1], inputs, next_tile, segments.num_items);
        if (found.num_slots > 0) {
            fold_tile(desk, desk.tiles[turn], inputs, segments, tile_begin, begin);
            __syncwarp();  // all totals are written
            //% if map_uses_tables
            finish_tile(desk, inputs, results, segment, found.num_slots);
            //% else
            finish_tile(desk, results, segment, found.num_slots);
            //% end
            __syncwarp();  // all values are written
            map_tile(desk, desk.tiles[turn], inputs, segments, results, is_aligned, tile_begin, begin,
                     end, segment);
        } else if (found.num_segments == 0) {
            take_long(desk.tiles[turn], inputs, segments, results, segment);
        }
        segment = next;
        begin = end;
        tile_begin = next_tile;
        turn ^= 1;
    }
}
