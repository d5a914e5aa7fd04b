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
//% elif flags
// A segment begins at each item whose flag is not 0, and at the first item. How many there are the kernels
// find out.
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
// Segments are the runs of items with equal keys. How many there are the kernels find out.
//% if finds_offsets
struct Given {
//% else
struct Segments {
//% end
    const Key* keys;   // [num_items]
    Key* found_keys;   // [num_items], of which the kernels write one for each segment
    Index* num_found;  // [1], written by the kernels
    Index num_items;
};
//% elif ends
// Segment s is made of the elements begins[s] to ends[s] - 1. Nobody has counted the items.
struct Segments {
    const Index* begins;  // [num_segments]
    const Index* ends;    // [num_segments]
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

//% if finds_offsets
// The same, and what a kernel has found: segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments : Given {
    const Index* offsets;  // [num_segments + 1]
    Index num_segments;
};
//% end
