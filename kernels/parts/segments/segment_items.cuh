//% use parts/segments/segments.cuh
// Returns the segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    //% if whole
    return 0;
    //% elif uniform
    return segment * segments.length;
    //% else
    return segments.offsets[segment];
    //% end
}

// Returns one past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    //% if whole
    return segments.num_items;
    //% elif uniform
    return (segment + 1) * segments.length;
    //% else
    return segments.offsets[segment + 1];
    //% end
}
