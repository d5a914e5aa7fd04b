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
    constexpr int kWords = 4;
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned tile_tag = word_tag(launch, kTileCount);
    const unsigned prefix_tag = word_tag(launch, kPrefixCount);
    Index count = 0;
    bool found = false;
    #pragma unroll 1
    for (Index nearest = tile - 1 - lane; !found; nearest -= kWords * kWarpThreads) {
        u64 read[kWords];
        #pragma unroll
        for (int k = 0; k < kWords; ++k) {
            const Index other = nearest - k * kWarpThreads;
            read[k] = other >= 0 ? words[other] : u64(prefix_tag) << 40;
        }
        #pragma unroll
        for (int k = 0; k < kWords; ++k) {
            if (found)
                continue;
            u64 word = read[k];
            unsigned prefixes = __ballot_sync(kFullMask, unsigned(word >> 40) == prefix_tag);
            unsigned known = prefixes | __ballot_sync(kFullMask, unsigned(word >> 40) == tile_tag);
            // Lanes up to the nearest prefix count, all where there is none.
            while ((known | ~(prefixes ^ (prefixes - 1))) != kFullMask) {
                const Index other = nearest - k * kWarpThreads;
                if (other >= 0)
                    word = words[other];
                prefixes = __ballot_sync(kFullMask, unsigned(word >> 40) == prefix_tag);
                known = prefixes | __ballot_sync(kFullMask, unsigned(word >> 40) == tile_tag);
            }
            if ((prefixes ^ (prefixes - 1)) >> lane & 1u)
                count += Index(word & 0xffffffffffull);
            found = prefixes != 0;
        }
    }
    #pragma unroll
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2)
        count += __shfl_xor_sync(kFullMask, count, distance);
    return count;
}
