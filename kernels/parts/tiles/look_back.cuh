// Numbers of earlier tiles by decoupled look-back (Merrill & Garland 2016). A tile's word holds, from the
// top: 22 bits of the launch's number, so that words of earlier launches count as nothing; 2 bits of one of
// these two; 40 bits of a count.
constexpr unsigned kTileCount = 1;    // of the tile alone
constexpr unsigned kPrefixCount = 2;  // of all tiles up to it

__device__ __forceinline__ unsigned word_tag(unsigned launch, unsigned what)
{
    return (launch & 0x3fffffu) << 2 | what;
}

// Called by one lane of the warp that has the tile.
__device__ __forceinline__ void publish_count(volatile u64* words, Index tile, unsigned tag, Index count)
{
    words[tile] = u64(tag) << 40 | u64(count);
}

// The sum of the counts of all tiles before `tile`, for all lanes of a warp. Tiles must have been taken in
// their order, by blocks that are running: then the wait for them ends.
// Sums of integers do not depend on how far the others happen to be.
__device__ __noinline__ Index look_back(volatile u64* words, Index tile, unsigned launch)
{
    // So many words for each lane are under way at once: the way to a prefix grows with the tiles in flight.
    constexpr int kAhead = 4;
    const int lane = threadIdx.x % kWarpThreads;
    const u64 nothing = u64(word_tag(launch, kPrefixCount)) << 40;  // what tiles before the first add
    const unsigned prefix_tag = word_tag(launch, kPrefixCount);
    const unsigned tile_tag = word_tag(launch, kTileCount);
    Index other = tile - 1 - lane;  // the lane's tile
    u64 read[kAhead];
    #pragma unroll
    for (int k = 0; k < kAhead; ++k)
        read[k] = other >= k * kWarpThreads ? words[other - k * kWarpThreads] : nothing;
    Index count = 0;
    for (;;) {
        u64 word = read[0];
        unsigned prefixes = 0;
        unsigned counting = 0;  // the lanes up to the nearest prefix, all where there is none
        for (;;) {
            prefixes = __ballot_sync(kFullMask, unsigned(word >> 40) == prefix_tag);
            counting = prefixes ^ (prefixes - 1u);
            const unsigned known = prefixes | __ballot_sync(kFullMask, unsigned(word >> 40) == tile_tag);
            if ((counting & ~known) == 0)
                break;
            word = other >= 0 ? words[other] : nothing;
        }
        if (counting >> lane & 1u)
            count += Index(word & 0xffffffffffull);
        if (prefixes != 0)
            break;
        other -= kWarpThreads;
        #pragma unroll
        for (int k = 0; k + 1 < kAhead; ++k)
            read[k] = read[k + 1];
        const Index next = other - (kAhead - 1) * kWarpThreads;
        read[kAhead - 1] = next >= 0 ? words[next] : nothing;
    }
    #pragma unroll
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2)
        count += __shfl_xor_sync(kFullMask, count, distance);
    return count;
}
