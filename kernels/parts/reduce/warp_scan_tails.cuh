// Returns to each lane the joined totals of the lanes up to it, from the last lane whose bit in `ends` is
// set. Both ends are included. A set bit means that a segment ends in that lane, and that the lane's total
// covers the items behind the last end. This function is always inlined, because a call would wait for all
// items that are still being loaded.
__device__ __forceinline__ State warp_scan_tails(State total, unsigned ends)
{
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned up_to_here = ends & (kFullMask >> (kWarpThreads - 1 - lane));
    const int first = up_to_here == 0 ? 0 : kWarpThreads - 1 - __clz(int(up_to_here));
    //% if costly_combine
    #pragma unroll 1
    //% else
    #pragma unroll
    //% end
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State earlier = shuffle_up(total, delta);
        if (lane - delta >= first)
            total = combine(earlier, total);
    }
    return total;
}
