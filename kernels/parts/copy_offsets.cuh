//% use parts/segments.cuh
//% use parts/async_copy.cuh
constexpr int kVectorOffsets = 16 / sizeof(Index);
constexpr int kChunkOffsets = kVectorOffsets * kWarpThreads;

// Starts to copy the offsets from `begin` on, a multiple of kChunkOffsets, into a ring of `ring_offsets`, a
// power of two: offset i to place i % ring_offsets. Those behind the last one are left out.
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
    #pragma unroll
    for (int k = 0; k < kVectorOffsets && mine + k <= segments.num_segments; ++k)
        to[k] = from[k];
}
