//% use parts/segments/segment_items.cuh
// For each of `places`, counts the segments that end before it. Segment s ends at place segment_end(s) +
// weight * s, so empty segments take up places too. The kFeatureLanes lanes of a group must call it together.
// A round tests one end per lane and place, so 16 lanes need 5 rounds for a million ends.
template <int kPlaces>
__device__ __forceinline__ void ends_before(const Segments& segments, const i64 (&places)[kPlaces], int weight,
                                            Index (&counts)[kPlaces])
{
    const int lane = int(threadIdx.x) % kFeatureLanes;
    const int first_lane = int(threadIdx.x) % kWarpThreads - lane;
    const unsigned group = kFullMask >> (kWarpThreads - kFeatureLanes) << first_lane;
    Index highs[kPlaces];  // the answer is one of counts[k] to highs[k]
    #pragma unroll
    for (int k = 0; k < kPlaces; ++k) {
        counts[k] = 0;
        highs[k] = segments.num_segments;
    }
    for (bool is_found = false; !is_found;) {
        is_found = true;
        #pragma unroll
        for (int k = 0; k < kPlaces; ++k) {
            const Index step = (highs[k] - counts[k]) / (kFeatureLanes + 1) + 1;
            const Index probe = counts[k] + (lane + 1) * step - 1;
            const bool is_before = probe < highs[k] &&
                                   i64(segment_end(segments, probe)) + i64(weight) * probe < places[k];
            counts[k] += __popc(__ballot_sync(group, is_before) >> first_lane) * step;
            highs[k] = min(highs[k], counts[k] + step - 1);
            is_found = is_found && counts[k] >= highs[k];
        }
    }
}
