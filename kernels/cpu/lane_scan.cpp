//% stage   lane_scan
//% title   Equal tiles whatever the segments, a segmented scan along each lane, carries joined in order
//% after   vector_per_segment
//% source  Blelloch, Heroux & Zagha 1993, section 3; Sengupta, Harris, Zhang & Owens 2007
//% layout  whole, uniform, offsets
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% tune    lane_items = 64, 32, 128, 256
//% tune    share_steps = 65536, 1024, 16384, 262144
//% tune    accumulators = 4, 2, 8
//% let     tile_items = 16 * lane_items
//% let     totals = tile_items
//% use     cpu/parts/share_cuts.h
//% use     cpu/parts/join_shares.h
//% if map
//% use     cpu/parts/map_shares.h
//% end
//% use     cpu/parts/fold_items.h

// Segments whose totals are read from a tile before the first of them is stored.
constexpr int kBlockSegments = 16 * kLanes;

alignas(64) static const unsigned kLaneBits[kLanes] = {
    0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000};

// A tile after the scan. Item k of lane l is item l * kLaneItems + k of the tile, and its slot is k * kLanes
// + l. If a segment begins with this item, byte `slot` of `marks` is 1 and bit l of heads[k] is set.
// `scanned` has at each slot the total of the lane's items from the last begin of a segment up to this item.
// `carries` has for each lane the total of the earlier items of the segment that is open before the lane.
struct Tile {
    alignas(64) unsigned long long marks[kTileItems / 8];
    alignas(64) unsigned heads[kLaneItems];
    Totals scanned;
    States carries;
};

[[gnu::always_inline]] static inline unsigned slot_of(unsigned place)
{
    return place % kLaneItems * kLanes + place / kLaneItems % kLanes;
}

// Slots of some segments. Functions that use slots are not inlined into those that compute them: a compiler
// that sees both takes slots out of their vectors one by one.
struct Slots {
    alignas(64) unsigned at[kBlockSegments];
};

[[gnu::noinline]] static void mark_slots(unsigned char* marks, const Slots& slots, int count)
{
    for (int done = 0; done < count; done += kLanes) {
        #pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k)
            marks[slots.at[done + k]] = 1;
    }
}

[[gnu::noinline]] static void take_slots(States* totals, const Totals& scanned, const Slots& slots, int count)
{
    for (int done = 0; done < count; done += kLanes) {
        #pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k)
            put(totals[done / kLanes], k, get_total(scanned, slots.at[done + k]));
    }
}

// Marks where segments begin in the tile whose first item is `item`. `segment` is the first segment that ends
// in the tile or behind it. Returns the first segment that ends behind the tile.
[[gnu::noinline]] static Index mark_heads(Tile& tile, const Segments& segments, Index item, Index segment)
{
    const Segments all = segments;
    for (int k = 0; k < kTileItems / 8; ++k)
        tile.marks[k] = 0;
    unsigned char* marks = (unsigned char*)tile.marks;
    Index last = segment;
    Slots slots;
    int count = 0;
    while (all.num_segments - last >= kLanes && segment_end(all, last + kLanes - 1) - item <= kTileItems) {
        //% if offsets
        prefetch(all.offsets + last + 2 * kBlockSegments);
        //% end
        #pragma omp simd
        for (int k = 0; k < kLanes; ++k)
            slots.at[count + k] = slot_of(segment_end(all, last + k) - item);
        last += kLanes;
        count += kLanes;
        if (count == kBlockSegments) {
            mark_slots(marks, slots, count);
            count = 0;
        }
    }
    mark_slots(marks, slots, count);
    for (; last < all.num_segments && segment_end(all, last) - item <= kTileItems; ++last)
        marks[slot_of(segment_end(all, last) - item)] = 1;
    // A segment that ends with the tile has marked the slot of the tile's first item, so this slot is written
    // again.
    marks[0] = segment < all.num_segments && segment_begin(all, segment) == item;
    // One multiplication gathers the lowest bits of eight bytes.
    constexpr unsigned long long kBits = 0x0102040810204080;
    #pragma omp simd
    for (int k = 0; k < kLaneItems; ++k) {
        const unsigned low = tile.marks[2 * k] * kBits >> 56;
        const unsigned high = tile.marks[2 * k + 1] * kBits >> 56;
        tile.heads[k] = low | high << 8;
    }
    return last;
}

// Joins item k of a lane to the lane's total, or begins a new total if a segment begins with the item.
[[gnu::always_inline]] static inline void scan_item(States& totals, Totals& scanned, const Inputs& inputs,
                                                    const Items& items, int taken, int k, int lane,
                                                    Index index, unsigned heads)
{
    const State item = lift_item(inputs, items, k, lane, index, 0, 0);
    const State joined = combine(get(totals, lane), item);
    const State total = choose((heads & kLaneBits[lane]) != 0, item, joined);
    put(totals, lane, total);
    put_total(scanned, (taken + k) * kLanes + lane, total);
}

// Joins a lane's total to the carry, or replaces the carry if a segment begins in the lane. All lanes of
// `carry` hold the same state, so this is a choice between values and no branch.
[[gnu::always_inline]] static inline void pass_lane(States& carry, int copy, const States& totals, int lane,
                                                    unsigned heads)
{
    const State total = get(totals, lane);
    const State joined = combine(get(carry, copy), total);
    put(carry, copy, choose((heads & (1u << lane)) != 0, total, joined));
}

// Scans the tile whose first item is `begin`. `open` is the total of the segment that is open before the
// tile. Returns the total of the segment that is open behind the tile.
[[gnu::noinline]] static State scan_tile(Tile& tile, const Inputs& inputs, Index begin, State open)
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
                scan_item(totals, tile.scanned, inputs, items, taken, k, lane,
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
            pass_lane(carry, copy, totals, lane, any[lane]);
    }
    return get(carry, 0);
}

[[gnu::always_inline]] static inline void carry_item(Totals& scanned, int k, int lane, const States& carries,
                                                     unsigned open)
{
    const State total = get_total(scanned, k * kLanes + lane);
    const State joined = combine(get(carries, lane), total);
    put_total(scanned, k * kLanes + lane, choose((open & kLaneBits[lane]) != 0, joined, total));
}

// Joins each lane's carry to the lane's totals before the first begin of a segment.
[[gnu::noinline]] static void carry_totals(Tile& tile)
{
    unsigned open = 0xffff;
    #pragma GCC unroll 1
    for (int k = 0; k < kLaneItems; ++k) {
        open &= ~tile.heads[k];
        if (open == 0)
            return;
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            carry_item(tile.scanned, k, lane, tile.carries, open);
    }
}

// Stores the total of a segment that ends in the tile and began in the share. `carry` is the carry of the
// lane in which it ends. If `is_carried` is true, carry_totals() has joined it already.
[[gnu::always_inline]] static inline void store_segment(const Segments& segments, const Results& results,
                                                        Index item, Index segment, State total, State carry,
                                                        bool is_carried)
{
    const Index from = segment_begin(segments, segment);
    const Index to = segment_end(segments, segment);
    const unsigned lane = unsigned(to - item - 1) / kLaneItems % kLanes;
    const bool is_cut = !is_carried && from < item + Index(lane) * kLaneItems;
    store(results, segment, to - from,
          choose(from == to, identity(), choose(is_cut, combine(carry, total), total)));
}

[[gnu::always_inline]] static inline void store_lane(const Segments& segments, const Results& results,
                                                     Index item, Index first, const States& totals,
                                                     const States& carries, int lane, bool is_carried)
{
    store_segment(segments, results, item, first + lane, get(totals, lane), get(carries, lane), is_carried);
}

[[gnu::always_inline]] static inline void take_carry(States& carries, int lane, const Segments& segments,
                                                     Index item, Index segment, const States& of_lanes)
{
    const unsigned place = segment_end(segments, segment) - item - 1;
    put(carries, lane, get(of_lanes, place / kLaneItems % kLanes));
}

// Stores `count` segments from `first` on; `count` is a multiple of kLanes. Totals lie scattered, so they are
// read one by one. They are read long before they are used, because a processor does not forward parts of a
// vector that it has just stored.
[[gnu::noinline]] static void store_segments(const Tile& tile, const Segments& segments,
                                             const Results& results, Index item, Index first, int count,
                                             bool is_carried)
{
    const Segments all = segments;
    Slots slots;
    #pragma omp simd
    for (int k = 0; k < count; ++k)
        slots.at[k] = slot_of(segment_end(all, first + k) - item - 1);
    States totals[kBlockSegments / kLanes];
    take_slots(totals, tile.scanned, slots, count);
    for (int done = 0; done < count; done += kLanes) {
        prefetch_results(results, first + done + 2 * kBlockSegments);
        States carries;
        if (is_carried) {
            #pragma omp simd
            for (int k = 0; k < kLanes; ++k)
                clear(carries, k);
        } else {
            #pragma omp simd
            for (int k = 0; k < kLanes; ++k)
                take_carry(carries, k, all, item, first + done + k, tile.carries);
        }
        #pragma omp simd
        for (int k = 0; k < kLanes; ++k)
            store_lane(all, results, item, first + done, totals[done / kLanes], carries, k, is_carried);
    }
}

// Stores the segments `first` to `last` - 1, which end in the tile and began in the share.
static inline void store_tile(Tile& tile, const Segments& segments, const Results& results, Index item,
                              Index first, Index last)
{
    const bool is_carried = last - first >= kLaneItems;
    if (is_carried)
        carry_totals(tile);
    while (last - first >= kLanes) {
        const Index left = (last - first) / kLanes * kLanes;
        const int count = left < kBlockSegments ? left : kBlockSegments;
        store_segments(tile, segments, results, item, first, count, is_carried);
        first += count;
    }
    for (; first < last; ++first) {
        const unsigned slot = slot_of(segment_end(segments, first) - item - 1);
        store_segment(segments, results, item, first, get_total(tile.scanned, slot),
                      get(tile.carries, slot % kLanes), is_carried);
    }
}

// Returns where a share begins: the first item of a tile, and the first segment that ends behind this item.
// This segment is near the share's cut, whose offsets are in the cache. So the search goes back from the cut,
// in steps that double.
static inline Cut tile_begin(const Segments& segments, i64 share)
{
    if (share == 0)
        return {0, 0};
    const Cut cut = share_begin(segments, share);
    if (cut.item == segments.num_items)
        return {segments.num_items, segments.num_segments};
    const Index item = cut.item / kTileItems * kTileItems;
    Index low = cut.segment;
    Index high = segments.num_segments;
    if (low < high && segment_end(segments, low) > item) {
        high = low;
        for (Index step = 1; low > 0 && segment_end(segments, low - 1) > item; step *= 2) {
            high = low - 1;
            low = high > step ? high - step : 0;
        }
    }
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (segment_end(segments, middle) <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return {item, low};
}

// Returns the number of items, from `item` on and before `end`, in whole tiles that lie inside of `segment`.
// The segment does not end in these tiles.
static inline Index items_inside(const Segments& segments, Index segment, Index item, Index end)
{
    if (segment == segments.num_segments || segment_begin(segments, segment) > item)
        return 0;
    const Index last = segment_end(segments, segment) - 1;
    const Index inside = (last < end ? last : end) - item;
    return inside / kTileItems * kTileItems;
}

// A share scans its tiles one after the other. Tiles that lie inside of a segment are folded without a scan.
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
    while (end.item - item >= kTileItems) {
        const Index inside = items_inside(segments, segment, item, end.item);
        if (inside > 0) {
            const State total = fold_items(inputs, segments, segment, item, item + inside);
            open = segment_begin(segments, segment) < item ? combine(open, total) : total;
            item += inside;
            continue;
        }
        const Index last = mark_heads(tile, segments, item, segment);
        open = scan_tile(tile, inputs, item, open);
        Index first = segment;
        if (segment < last && segment_begin(segments, segment) < begin.item) {
            const unsigned slot = slot_of(segment_end(segments, segment) - item - 1);
            const unsigned lane = slot % kLanes;
            share_heads[share] = get_total(tile.scanned, slot);
            if (segment_begin(segments, segment) < item + Index(lane) * kLaneItems)
                share_heads[share] = combine(get(tile.carries, lane), share_heads[share]);
            ++first;
        }
        store_tile(tile, segments, results, item, first, last);
        segment = last;
        item += kTileItems;
    }
    // Folds the items behind the share's last whole tile.
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
    //% if map
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
    //% end
}
