//% use parts/segments/segment_items.cuh
//% let end_weight = 3
//% if finds_offsets
//% let num_places = num_items
//% else
//% let num_places = num_items + end_weight * num_segments
//% end
//% if !uniform
//% use parts/segments/search_ends.cuh
//% end

// The begin of a share: items before `item` and segments before `segment` belong to earlier shares.
struct Cut {
    Index item;
    Index segment;
};

// Returns the begin of share `share` to the lower half of the warp, and the begin of the next share to the
// upper half. Shares have equal sums of items and weighted ends: an end counts as kEndWeight items.
__device__ __forceinline__ Cut find_cut(const Segments& segments, Index share, Index num_shares)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    const Index mine = share + lane / kHalf;
    //% if uniform
    const Index item = Index((unsigned long long)segments.num_items * mine / num_shares);
    Cut cut = {item, item / segments.length};
    //% else
    // An unsigned division takes fewer instructions.
    const unsigned long long places = segments.num_items + (long long)kEndWeight * segments.num_segments;
    const long long place = (long long)(places * mine / num_shares);
    const Index low = search_ends(segments, place, kEndWeight);
    const long long item = place - (long long)kEndWeight * low;
    Cut cut = {Index(min((long long)segments.offsets[low + 1], item)), low};
    //% end
    if (mine == num_shares)
        cut = {segments.num_items, segments.num_segments};
    return cut;
}
