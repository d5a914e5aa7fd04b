//% if whole
// One segment of all items.
struct Segments {
    Index num_items;
    Index num_segments;
};
//% elif uniform
// Segments of one length.
struct Segments {
    Index length;
    Index num_items;
    Index num_segments;
};
//% elif offsets
// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};
//% else
// Segment s holds offsets[s + 1] - offsets[s] elements from begins[s] on. Items count along the segments.
struct Segments {
    const Index* begins;   // [num_segments]
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};
//% end

// Returns the segment's first item.
static inline Index segment_begin(const Segments& segments, Index segment)
{
    //% if whole
    return segment == 0 ? 0 : segments.num_items;
    //% elif uniform
    return segment * segments.length;
    //% else
    return segments.offsets[segment];
    //% end
}

// Returns one past the segment's last item.
static inline Index segment_end(const Segments& segments, Index segment)
{
    return segment_begin(segments, segment + 1);
}

// Returns the element of the input that is item `item` of a segment.
//% if ranges
static inline Index element_of(const Segments& segments, Index segment, Index item)
{
    return segments.begins[segment] + (item - segments.offsets[segment]);
}
//% else
static inline Index element_of(const Segments&, Index, Index item) { return item; }
//% end
