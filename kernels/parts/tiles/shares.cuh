//% use parts/segments/segment_items.cuh
//% use parts/reduce/block_scan_runs.cuh
constexpr Index kNoEnd = -1;      // as `waiting`: no segment ends in the share
constexpr Index kNoneWaits = -2;  // as `waiting`: segments end in the share, and all of them begin in it

// The fold of consecutive items after all segments that begin and end in them are stored.
struct Share {
    State head;     // items up to the first end, if that segment began earlier; it waits for its other parts
    State total;    // items behind the last end, or all items
    Index waiting;  // the segment of the head, or kNoneWaits, or kNoEnd
};

// Stores the total of a segment that was cut.
__device__ __forceinline__ void store_waiting(const Segments& segments,
                                              const Results& results,
                                              Index segment,
                                              State total)
{
    store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), total);
}

// Joins two neighbouring shares. If a segment begins in the earlier one and ends in the later one, stores it.
__device__ __forceinline__ Share join_shares(const Segments& segments,
                                             const Results& results,
                                             Share earlier,
                                             Share later)
{
    const State longer = combine(earlier.total, later.waiting == kNoEnd ? later.total : later.head);
    if (later.waiting == kNoEnd)
        return {earlier.head, longer, earlier.waiting};
    if (earlier.waiting == kNoEnd)
        return {longer, later.total, later.waiting};
    if (later.waiting >= 0)
        store_waiting(segments, results, later.waiting, longer);
    return {earlier.head, later.total, earlier.waiting};
}

// The last block joins the blocks' shares in order; each thread joins some consecutive shares.
__device__ __noinline__ void join_all_shares(const Segments& segments,
                                             const Results& results,
                                             const State* __restrict__ block_heads,
                                             const State* __restrict__ block_totals,
                                             const Index* __restrict__ block_waiting)
{
    const int each = int((gridDim.x + blockDim.x - 1) / blockDim.x);
    const int begin = threadIdx.x * each;
    const int end = min(begin + each, int(gridDim.x));
    Share mine = {identity(), identity(), kNoEnd};
    #pragma unroll 1
    for (int block = begin; block < end; ++block)
        mine = join_shares(segments, results, mine,
                           {block_heads[block], block_totals[block], block_waiting[block]});
    const Run before = block_scan_runs({mine.total, mine.waiting != kNoEnd});
    if (mine.waiting >= 0)
        store_waiting(segments, results, mine.waiting, combine(before.total, mine.head));
}
