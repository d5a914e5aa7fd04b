//% use parts/segments/segment_items.cuh
// Stores the totals of segments `begin` to `end` - 1. totals[0] belongs to segment `base`.
__device__ __forceinline__ void store_totals(const Segments& segments,
                                             const Results& results,
                                             const State* totals,
                                             Index base,
                                             Index begin,
                                             Index end)
{
    #pragma unroll 2
    for (Index segment = begin + threadIdx.x % kWarpThreads; segment < end; segment += kWarpThreads)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment),
              totals[segment - base]);
}

//% if offsets && allows_empty
// Moves the totals of a tile apart to make room for empty segments. `here` holds the `num_totals` totals of
// non-empty segments among `begin` to `end` - 1. Goes from the last to the first, so no total is overwritten
// before it is moved.
__device__ __forceinline__ void let_empty_in(const Segments& segments,
                                             const Index* ring,
                                             int ring_offsets,
                                             State* here,
                                             int num_totals,
                                             Index begin,
                                             Index end,
                                             bool in_ring)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (Index chunk = end - begin; chunk > 0; chunk -= kWarpThreads) {
        const Index mine = chunk - 1 - lane;
        const Index segment = begin + mine;
        bool is_filled = false;
        if (mine >= 0)
            is_filled = in_ring ? ring[unsigned(segment) & (ring_offsets - 1)] !=
                                      ring[unsigned(segment + 1) & (ring_offsets - 1)]
                                : segment_begin(segments, segment) < segment_end(segments, segment);
        const unsigned filled = __ballot_sync(kFullMask, is_filled);
        const int later = __popc(filled & ((1u << lane) - 1));
        const State total = is_filled ? here[num_totals - 1 - later] : identity();
        __syncwarp();  // the totals have been read
        if (mine >= 0)
            here[mine] = total;  // at or behind all totals that the next round reads
        num_totals -= __popc(filled);
    }
}
//% end

//% if offsets && allows_empty || sparse_ends == 1
constexpr int kAllTotals = kTileItems + 1;  // greater than any rank, so that empty segments at the end count

// Stores totals at once if more segments end in a tile than there is room for. `here` holds the totals of the
// next `num_totals` non-empty segments from `begin` on. Stores these, and the empty segments before the last
// of them, but none from `end` on. Returns the first segment that is not stored.
__device__ __forceinline__ Index store_crowd(const Segments& segments,
                                             const Results& results,
                                             const State* here,
                                             Index begin,
                                             Index end,
                                             Index first_stored,
                                             int num_totals)
{
    const int lane = threadIdx.x % kWarpThreads;
    int num_stored = 0;
    bool goes_on = true;
    #pragma unroll 1
    while (goes_on && begin < end) {
        const Index segment = begin + lane;
        Index length = 0;
        if (segment < end)
            length = segment_end(segments, segment) - segment_begin(segments, segment);
        const unsigned filled = __ballot_sync(kFullMask, length > 0);
        const int rank = num_stored + __popc(filled & ((1u << lane) - 1));
        const bool is_mine = segment < end && rank < num_totals;
        if (is_mine && segment >= first_stored)
            store(results, segment, length, length > 0 ? here[rank] : identity());
        const unsigned stored = __ballot_sync(kFullMask, is_mine);
        num_stored += __popc(filled & stored);
        begin += __popc(stored);
        goes_on = stored == kFullMask;
    }
    return begin;
}
//% end
