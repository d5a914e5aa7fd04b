//% use parts/segments/segments.cuh
//% if whole
// Returns the segment that holds an item.
__device__ __forceinline__ Index find_segment(const Segments&, Index, Index, Index)
{
    return 0;
}
//% elif uniform
// Returns the segment that holds an item.
__device__ __forceinline__ Index find_segment(const Segments& segments, Index item, Index, Index)
{
    return item / segments.length;
}
//% else
// Returns the segment that holds `item`, which must be one of `first` to `last`. It is the last segment that
// begins at or before the item, so empty segments are skipped.
__device__ __forceinline__ Index find_segment(const Segments& segments, Index item, Index first, Index last)
{
    while (first < last) {
        const Index middle = last - (last - first) / 2;
        if (segments.offsets[middle] <= item)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}
//% end
