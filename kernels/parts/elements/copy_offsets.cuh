//% use parts/segments/segments.cuh
//% use parts/elements/async_copy.cuh
constexpr int kVectorOffsets = 16 / sizeof(Index);
constexpr int kChunkOffsets = kVectorOffsets * kWarpThreads;

// Copies `count` offsets of a lane's vector one by one: the last offsets, or the offsets of an array that
// begins in the middle of a vector. This function is not inlined, because offsets are copied in two places.
__device__ __noinline__ void copy_last_offsets(Index* to, const Index* from, Index count)
{
    #pragma unroll 1
    for (int k = 0; k < kVectorOffsets && k < count; ++k)
        to[k] = from[k];
}

// Starts to copy the offsets from `begin` on into a ring. Offset i goes to place i % ring_offsets. `begin`
// must be a multiple of kChunkOffsets, and `ring_offsets` a power of two. Offsets behind the last one are not
// copied.
__device__ __forceinline__ void copy_offsets(Index* ring,
                                             int ring_offsets,
                                             const Segments& segments,
                                             Index begin)
{
    const Index mine = begin + threadIdx.x % kWarpThreads * kVectorOffsets;
    Index* const to = ring + (unsigned(mine) & (ring_offsets - 1));
    const Index* const from = segments.offsets + mine;
    const bool aligned = (unsigned long long)segments.offsets % 16 == 0;
    if (aligned && begin + kChunkOffsets <= segments.num_segments + 1) {
        copy_async(to, from);
        return;
    }
    copy_last_offsets(to, from, segments.num_segments + 1 - mine);
}
