//% if commutative && row_lanes > 1
// Joins the states that the lanes of a group have for each feature, in the lanes' order. All lanes get all
// totals. In each round a lane gives half of its features away and keeps the other half, down to one feature:
// eight lanes of four features combine four states each instead of twelve. Then each lane fetches every
// feature from a lane that has it.
__device__ __forceinline__ void join_row_lanes(State (&totals)[kFeaturesPerLane])
{
    const int lane = int(threadIdx.x) % kWarpThreads;
    const int row_lane = lane / kFeatureLanes % kRowLanes;
    int count = kFeaturesPerLane;  // features that a lane keeps
    #pragma unroll
    for (int delta = 1; delta < kRowLanes; delta *= 2) {
        const bool is_later = (row_lane & delta) != 0;
        const int half = count / 2;
        count = max(half, 1);
        #pragma unroll
        for (int v = 0; v < count; ++v) {
            const State kept = is_later ? totals[v + half] : totals[v];
            const State given = is_later ? totals[v] : totals[v + half];
            const State got = shuffle(given, lane ^ delta * kFeatureLanes);
            totals[v] = combine(is_later ? got : kept, is_later ? kept : got);
        }
    }
    State all[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        int row_lane_of = 0;  // row_lane of a lane that has feature v; each round sets a bit
        int place = v;
        int size = kFeaturesPerLane;
        #pragma unroll
        for (int delta = 1; delta < kRowLanes; delta *= 2) {
            size /= 2;
            if (size > 0 && place >= size) {
                row_lane_of += delta;
                place -= size;
            }
        }
        all[v] = shuffle(totals[place], lane + (row_lane_of - row_lane) * kFeatureLanes);
    }
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        totals[v] = all[v];
}
//% end
