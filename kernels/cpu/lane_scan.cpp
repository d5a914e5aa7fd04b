//% stage   lane_scan
//% title   Equal tiles whatever the segments, a segmented scan along each lane, carries joined in order
//% after   vector_per_segment
//% source  Blelloch, Heroux & Zagha 1993, section 3; Sengupta, Harris, Zhang & Owens 2007
//% layout  whole, uniform, offsets
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% suits   50
//% tune    lane_items = 128, 32, 64, 256
//% tune    share_steps = 65536, 1024, 16384, 262144
//% let     tile_items = 16 * lane_items
//% use     cpu/parts/share_cuts.h
//% use     cpu/parts/join_shares.h

// What a tile leaves: bit `lane` of heads[k] says that a segment begins at item k of the lane, scanned[k]
// has the total from the last segment begin up to that item, carries the total of what lies before each lane
// of the segment that is open there.
struct Tile {
    unsigned heads[kLaneItems];
    States scanned[kLaneItems];
    States carries;
};

// Joins item k of a lane to the lane's total, or begins a new total with it.
[[gnu::always_inline]] static inline void scan_item(States& totals, States& scanned, const Inputs& inputs,
                                                    const Items& items, int k, int lane, Index index,
                                                    unsigned heads)
{
    const State item = lift_item(inputs, items, k, lane, index, 0, 0);
    const State joined = combine(get(totals, lane), item);
    const State total = choose((heads & (1u << lane)) != 0, item, joined);
    put(totals, lane, total);
    put(scanned, lane, total);
}

// Goes past a lane: each lane of `carry` holds the same, so that whether a segment begins is a choice and no
// branch.
[[gnu::always_inline]] static inline void pass_lane(States& carry, int copy, const States& totals, int lane,
                                                    unsigned heads)
{
    const State total = get(totals, lane);
    const State joined = combine(get(carry, copy), total);
    put(carry, copy, choose((heads & (1u << lane)) != 0, total, joined));
}

// Scans the tile whose first item is `begin`; `open` is the total of the segment that is open there. Returns
// that of the segment that is open behind it.
static inline State scan_tile(Tile& tile, const Inputs& inputs, Index begin, State open)
{
    States totals;
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        clear(totals, lane);
    unsigned any_heads = 0;
    Items items;
    #pragma GCC unroll 1
    for (int taken = 0; taken < kLaneItems; taken += kColumns) {
        take_items(items, inputs, begin + taken, kLaneItems);
        //% if costly_combine
        #pragma GCC unroll 1
        //% else
        #pragma GCC unroll 16
        //% end
        for (int k = 0; k < kColumns; ++k) {
            const unsigned heads = tile.heads[taken + k];
            any_heads |= heads;
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                scan_item(totals, tile.scanned[taken + k], inputs, items, k, lane,
                          begin + lane * kLaneItems + taken + k, heads);
        }
    }
    unsigned any[kLanes];
    States carry;
    #pragma omp simd
    for (int copy = 0; copy < kLanes; ++copy) {
        any[copy] = any_heads;
        put(carry, copy, open);
    }
    //% if costly_combine
    #pragma GCC unroll 1
    //% else
    #pragma GCC unroll 16
    //% end
    for (int lane = 0; lane < kLanes; ++lane) {
        put(tile.carries, lane, get(carry, 0));
        #pragma omp simd
        for (int copy = 0; copy < kLanes; ++copy)
            pass_lane(carry, copy, totals, lane, any[copy]);
    }
    return get(carry, 0);
}

// Stores the total of a segment that ends in the tile and began in the share.
[[gnu::always_inline]] static inline void store_segment(const Tile& tile, const Segments& segments,
                                                        const Results& results, Index item, Index segment)
{
    const Index from = segment_begin(segments, segment);
    const Index to = segment_end(segments, segment);
    const unsigned place = to > item ? to - item - 1 : 0;
    const unsigned lane = place / kLaneItems;
    const State total = get(tile.scanned[place % kLaneItems], lane);
    const State joined = combine(get(tile.carries, lane), total);
    const bool is_cut = from < item + Index(lane) * kLaneItems;
    store(results, segment, to - from, choose(from == to, identity(), choose(is_cut, joined, total)));
}

// Where a share begins: at a tile, and with the first segment that ends behind that place.
static inline Cut tile_begin(const Segments& segments, i64 share)
{
    if (share == 0)
        return {0, 0};
    Index item = share_begin(segments, share).item;
    if (item == segments.num_items)
        return {segments.num_items, segments.num_segments};
    item = item / kTileItems * kTileItems;
    Index low = 0;
    Index high = segments.num_segments;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (segment_end(segments, middle) <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return {item, low};
}

// A share scans its tiles one after the other. No step depends on how long segments are.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results,
                           State* share_heads,
                           State* share_tails,
                           Index* share_items,
                           Index* share_segments)
{
    const Cut begin = tile_begin(segments, share);
    const Cut end = tile_begin(segments, share + 1);
    share_items[share] = begin.item;
    share_segments[share] = begin.segment;
    Index segment = begin.segment;
    Index item = begin.item;
    State open = identity();
    Tile tile;
    for (; end.item - item >= kTileItems; item += kTileItems) {
        for (int k = 0; k < kLaneItems; ++k)
            tile.heads[k] = 0;
        tile.heads[0] = segment < segments.num_segments && segment_begin(segments, segment) == item;
        // A segment that ends with the tile sets a bit behind those of the lanes.
        Index last = segment;
        for (; last < segments.num_segments; ++last) {
            const Index place = segment_end(segments, last) - item;
            if (place > kTileItems)
                break;
            tile.heads[unsigned(place) % kLaneItems] |= 1u << (unsigned(place) / kLaneItems);
        }
        open = scan_tile(tile, inputs, item, open);
        Index first = segment;
        if (segment < last && segment_begin(segments, segment) < begin.item) {
            const unsigned place = segment_end(segments, segment) - item - 1;
            const unsigned lane = place / kLaneItems;
            share_heads[share] = get(tile.scanned[place % kLaneItems], lane);
            if (segment_begin(segments, segment) < item + Index(lane) * kLaneItems)
                share_heads[share] = combine(get(tile.carries, lane), share_heads[share]);
            ++first;
        }
        #pragma omp simd
        for (Index s = first; s < last; ++s)
            store_segment(tile, segments, results, item, s);
        segment = last;
    }
    // What is left is less than a tile, behind the last one.
    for (; segment < end.segment; ++segment) {
        const Index from = segment_begin(segments, segment);
        const Index to = segment_end(segments, segment);
        State total = from < item ? open : identity();
        for (; item < to; ++item)
            total = combine(total, load_item(inputs, item, 0, 0));
        open = identity();
        if (from < begin.item)
            share_heads[share] = total;
        else
            store(results, segment, to - from, total);
    }
    for (; item < end.item; ++item)
        open = combine(open, load_item(inputs, item, 0, 0));
    share_tails[share] = open;
}
