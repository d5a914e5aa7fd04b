//% use parts/segments/segment_items.cuh
//% use parts/segments/find_segment.cuh
// Where the way of a scan enters segments among a thread's items.
//% if ranges || scan_places
//% use parts/segments/place.cuh
struct Way {
    Place place;  // the segment of the item that go_on() has met last
    Index first;  // the tile's segments
    Index last;
};

// Returns the way of a thread whose first item on the way is `item`.
__device__ __forceinline__ Way way_from(const Segments& segments, Index item, Index first, Index last)
{
    return {place_of(segments, find_segment(segments, item, first, last)), first, last};
}

// Goes on to `item`, which is the k-th of its step. Returns true if the way enters a segment with it.
__device__ __forceinline__ bool go_on(Way& way, const Segments& segments, Index item, int)
{
    go_to_item(way.place, segments, item, way.first, way.last);
    return is_entry(way.place, item);
}
__device__ __forceinline__ void next_step(Way&, int) {}
//% else
struct Way {
    unsigned entries;  // a bit for each item of this step and the next ones: 1 if the way enters a segment
};

// Goes on to an item, which is the k-th of its step. Returns true if the way enters a segment with it.
//% if reverse
__device__ __forceinline__ bool go_on(const Way& way, const Segments&, Index, int k)
{
    return (way.entries << k & 1u << 31) != 0;
}
__device__ __forceinline__ void next_step(Way& way, int items) { way.entries <<= items; }
__device__ __forceinline__ Way way_of_bits(unsigned bits) { return {bits << (32 - kItemsPerThread)}; }
//% else
__device__ __forceinline__ bool go_on(const Way& way, const Segments&, Index, int k)
{
    return (way.entries >> k & 1u) != 0;
}
__device__ __forceinline__ void next_step(Way& way, int items) { way.entries >>= items; }
__device__ __forceinline__ Way way_of_bits(unsigned bits) { return {bits}; }
//% end

//% if whole
// Returns the way of a thread with `count` items from `begin` on.
__device__ __forceinline__ Way way_of(const Segments& segments, Index begin, int)
{
    //% if reverse
    const Index entry = segments.num_items - 1 - begin;
    //% else
    const Index entry = -begin;
    //% end
    return way_of_bits(entry >= 0 && entry < kItemsPerThread ? 1u << entry : 0u);
}
//% elif uniform
// Returns the way of a thread with `count` items from `begin` on.
__device__ __forceinline__ Way way_of(const Segments& segments, Index begin, int count)
{
    unsigned entries = 0;
    //% if reverse
    const Index before = (begin + 1) % segments.length;
    //% else
    const Index before = begin % segments.length;
    //% end
    #pragma unroll 1
    for (Index k = before == 0 ? 0 : segments.length - before; k < count; k += segments.length)
        entries |= 1u << k;
    return way_of_bits(entries);
}
//% else
// A bit for each item of a tile: 1 if the way enters a segment with it.
constexpr int kEntryWords = kBlockThreads * kItemsPerThread / 32;

// Notes the entries to the segments `first` to `last` that lie in the tile. All threads of the block call it;
// the words are 0.
__device__ __forceinline__ void mark_entries(unsigned (&words)[kEntryWords], const Segments& segments,
                                             Index tile_begin, Index first, Index last)
{
    for (Index segment = first + int(threadIdx.x); segment <= last; segment += kBlockThreads) {
        //% if reverse
        const Index place = segment_end(segments, segment) - 1 - tile_begin;
        //% else
        const Index place = segment_begin(segments, segment) - tile_begin;
        //% end
        if (place >= 0 && place < kEntryWords * 32)
            atomicOr(&words[place / 32], 1u << place % 32);
    }
}

// Returns the way of a thread whose first item is item `first` of the tile.
__device__ __forceinline__ Way way_of(const unsigned (&words)[kEntryWords], int first)
{
    return way_of_bits(words[first / 32] >> first % 32 & (~0u >> (32 - kItemsPerThread)));
}
//% end
//% end
