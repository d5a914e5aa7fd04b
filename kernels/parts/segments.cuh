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
// Segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};
//% else
// Segment s is made of offsets[s + 1] - offsets[s] elements from begins[s] on; items count along the
// segments.
struct Segments {
    const Index* begins;   // [num_segments]
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};
//% end
