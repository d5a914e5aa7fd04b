//% use parts/segments/slice_heads.cuh
// Stores the heads of a warp's slices in `marks`, one slice behind the other. Returns the number of a lane's
// heads. Reads the flags of four slices at once.
__device__ __forceinline__ int find_heads(unsigned short* marks, const Segments& segments, Index begin,
                                          int num_slices)
{
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned char* const flags = segments.flags + begin + lane * kItems;
    const bool fits = (unsigned long long)segments.flags % kFlagVector == 0;
    const bool is_inside = fits && begin + num_slices * kSliceItems <= segments.num_items;
    int count = 0;
    if (!is_inside) {
        #pragma unroll 1
        for (int slice = 0; slice < num_slices; ++slice) {
            const unsigned heads = vote_heads(segments, begin + slice * kSliceItems);
            marks[slice * kWarpThreads + lane] = (unsigned short)heads;
            count += __popc(heads);
        }
        return count;
    }
    constexpr int kTogether = 4;
    #pragma unroll 1
    for (int slice = 0; slice < num_slices; slice += kTogether) {
        LaneFlags read[kTogether];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (slice + k < num_slices)
                read[k] = *reinterpret_cast<const LaneFlags*>(flags + (slice + k) * kSliceItems);
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (slice + k < num_slices) {
                unsigned heads = flag_bits(read[k]);
                heads |= begin + slice + k + lane == 0 ? 1u : 0u;  // the input's first item is a head
                marks[(slice + k) * kWarpThreads + lane] = (unsigned short)heads;
                count += __popc(heads);
            }
    }
    return count;
}
