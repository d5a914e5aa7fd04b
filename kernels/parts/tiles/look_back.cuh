// Counts of earlier tiles by decoupled look-back (Merrill & Garland 2016). A tile's word holds, from the top:
// 22 bits of the launch's number, so that words of earlier launches are ignored; 2 bits with one of the
// values below; 40 bits of a count.
constexpr unsigned kTileCount = 1;    // count of the tile alone
constexpr unsigned kPrefixCount = 2;  // count of all tiles up to this one

__device__ __forceinline__ unsigned word_tag(unsigned launch, unsigned what)
{
    return (launch & 0x3fffffu) << 2 | what;
}

// Publishes a count of a tile. One lane of the tile's warp calls it.
__device__ __forceinline__ void publish_count(volatile u64* words, Index tile, unsigned tag, Index count)
{
    words[tile] = u64(tag) << 40 | u64(count);
}

// Returns the sum of the counts of all tiles before `tile` to all lanes of a warp. Tiles must be taken in
// their order by running blocks, so that the wait for them ends. Sums of integers do not depend on the
// progress of other blocks.
__device__ __noinline__ Index look_back(volatile u64* words, Index tile, unsigned launch)
{
    // The number of words that each lane reads at once. The way back to a prefix grows with the number of
    // tiles in flight.
    constexpr int kAhead = 4;
    const int lane = threadIdx.x % kWarpThreads;
    const u64 nothing = u64(word_tag(launch, kPrefixCount)) << 40;  // stands for tiles before the first one
    const unsigned prefix_tag = word_tag(launch, kPrefixCount);
    const unsigned tile_tag = word_tag(launch, kTileCount);
    Index other = tile - 1 - lane;  // the tile that this lane reads
    u64 read[kAhead];
    #pragma unroll
    for (int k = 0; k < kAhead; ++k)
        read[k] = other >= k * kWarpThreads ? words[other - k * kWarpThreads] : nothing;
    Index count = 0;
    for (;;) {
        u64 word = read[0];
        unsigned prefixes = 0;
        unsigned counting = 0;  // the lanes up to the nearest prefix; all if there is none
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
