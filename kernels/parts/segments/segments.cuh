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
//% elif flags
// A segment begins at each item whose flag is not 0, and at the first item. The kernels find the number of
// segments.
//% if finds_offsets
struct Given {
//% else
struct Segments {
//% end
    const unsigned char* flags;  // [num_items]
    Index* num_found;            // [1], written by the kernels
    Index num_items;
};
//% elif keys
// Segments are the runs of items with equal keys. The kernels find the number of segments.
//% if finds_offsets
struct Given {
//% else
struct Segments {
//% end
    const Key* keys;   // [num_items]
    Key* found_keys;   // [num_items]; the kernels write one key for each segment
    Index* num_found;  // [1], written by the kernels
    Index num_items;
};
//% elif ends
// Segment s holds elements begins[s] to ends[s] - 1. Their items are not counted.
struct Segments {
    const Index* begins;  // [num_segments]
    const Index* ends;    // [num_segments]
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

//% if finds_offsets
// Flags or keys, with the offsets that kernels have found: segment s holds items offsets[s] to offsets[s + 1]
// - 1.
struct Segments : Given {
    const Index* offsets;  // [num_segments + 1]
    Index num_segments;
};
//% end
