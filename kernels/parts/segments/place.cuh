//% use parts/segments/segment_items.cuh
//% use parts/segments/find_segment.cuh
// A segment and the range of its items.
struct Place {
    Index segment;
    Index begin;
    Index end;
};

__device__ __forceinline__ Place place_of(const Segments& segments, Index segment)
{
    return {segment, segment_begin(segments, segment), segment_end(segments, segment)};
}

// Makes `place` the segment of `item`, which is the next item on the way of the scan. The segment is one of
// `first` to `last`.
__device__ __forceinline__ void go_to_item(Place& place, const Segments& segments, Index item, Index first,
                                           Index last)
{
    //% if reverse
    if (item >= place.begin)
        return;
    Index segment = place.segment - 1;
    if (segment_begin(segments, segment) > item)  // the segment is empty, as the next ones may be
        segment = find_segment(segments, item, first, segment);
    //% else
    if (item < place.end)
        return;
    Index segment = place.segment + 1;
    if (segment_end(segments, segment) <= item)  // the segment is empty, as the next ones may be
        segment = find_segment(segments, item, segment, last);
    //% end
    place = place_of(segments, segment);
}

// True if the scan enters, or leaves, a segment with this item.
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

// Returns the element of the input that is item `item`, which belongs to segment `place`.
//% if ranges
__device__ __forceinline__ Index element_of(const Segments& segments, const Place& place, Index item)
{
    return segments.begins[place.segment] + (item - place.begin);
}
//% else
__device__ __forceinline__ Index element_of(const Segments&, const Place&, Index item) { return item; }
//% end
