//% use parts/segments/segments.cuh
__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    //% if whole
    return segments.num_items;
    //% elif uniform
    return segments.length;
    //% elif ends
    return segments.ends[segment] - segments.begins[segment];
    //% else
    return segments.offsets[segment + 1] - segments.offsets[segment];
    //% end
}

// Returns the segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    //% if whole
    return 0;
    //% elif uniform
    return segment * segments.length;
    //% elif offsets
    return segments.offsets[segment];
    //% else
    return segments.begins[segment];
    //% end
}
