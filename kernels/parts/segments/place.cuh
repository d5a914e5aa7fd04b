//% use parts/segments/segment_items.cuh
//% use parts/segments/find_segment.cuh
// A segment and its items.
struct Place {
    Index segment;
    Index begin;
    Index end;
};

__device__ __forceinline__ Place place_of(const Segments& segments, Index segment)
{
    return {segment, segment_begin(segments, segment), segment_end(segments, segment)};
}

// Goes on to the segment of `item`, the next one on the way; it is one of `first` to `last`.
__device__ __forceinline__ void go_to_item(Place& place, const Segments& segments, Index item, Index first,
                                           Index last)
{
    //% if reverse
    if (item >= place.begin)
        return;
    Index segment = place.segment - 1;
    if (segment_begin(segments, segment) > item)  // it is empty, and more may be
        segment = find_segment(segments, item, first, segment);
    //% else
    if (item < place.end)
        return;
    Index segment = place.segment + 1;
    if (segment_end(segments, segment) <= item)  // it is empty, and more may be
        segment = find_segment(segments, item, segment, last);
    //% end
    place = place_of(segments, segment);
}

// Whether the way enters, or leaves, a segment with an item of it.
//% if reverse
__device__ __forceinline__ bool is_entry(const Place& place, Index item) { return item + 1 == place.end; }
//% else
__device__ __forceinline__ bool is_entry(const Place& place, Index item) { return item == place.begin; }
//% end
//% if (keeps_results || map) && reverse
__device__ __forceinline__ bool is_exit(const Place& place, Index item) { return item == place.begin; }
//% elif keeps_results || map
__device__ __forceinline__ bool is_exit(const Place& place, Index item) { return item + 1 == place.end; }
//% end

// The element that is an item of the segment.
//% if ranges
__device__ __forceinline__ Index element_of(const Segments& segments, const Place& place, Index item)
{
    return segments.begins[place.segment] + (item - place.begin);
}
//% else
__device__ __forceinline__ Index element_of(const Segments&, const Place&, Index item) { return item; }
//% end
