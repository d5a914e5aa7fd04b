//% use parts/segments/slice_heads.cuh
//% if keys
constexpr int kExchanged = kSliceItems;  // places for bits of heads, later for places of heads
//% else
constexpr int kExchanged = 1;
//% end

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head.
__device__ __forceinline__ unsigned find_heads(unsigned short* exchange, const Segments& segments,
                                               Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    //% if flags
    const bool fits = (unsigned long long)segments.flags % kFlagVector == 0;
    if (!fits || begin + kSliceItems > segments.num_items)
        return vote_heads(segments, begin);
    const Index first = begin + lane * kItems;
    const LaneFlags flags = *reinterpret_cast<const LaneFlags*>(segments.flags + first);
    return flag_bits(flags) | (first == 0 ? 1u : 0u);  // the input's first item is a head
    //% else
    const bool fits = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    if (!fits || begin + kSliceItems > segments.num_items)
        return vote_heads(segments, begin);
    KeyVector keys[kKeyRows];
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row)
        keys[row] = reinterpret_cast<const KeyVector*>(segments.keys + begin)[row * kWarpThreads + lane];
    Key before_row = segments.keys[begin > 0 ? begin - 1 : 0];
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        unsigned bits = vector_heads(keys[row], before_row);
        bits |= row == 0 && begin + lane == 0 ? 1u : 0u;  // the input's first item is a head
        exchange[row * kWarpThreads + lane] = (unsigned short)bits;
    }
    __syncwarp();  // all lanes have written their bits
    return exchanged_heads(exchange);
    //% end
}
