//% use parts/segments/segments.cuh
// A head is an item of flags or keys that begins a segment. A slice consists of the items that a warp takes
// at a time.
//% if finds_offsets
// Each lane takes kItems consecutive items of a slice.
constexpr int kItems = 16;
//% else
// Each lane takes kItems consecutive items of a slice. If states are wide, kItems is smaller, so that a slice
// takes the same room.
constexpr int kStateBytes = sizeof(State) < 4 ? 4 : int(sizeof(State));
constexpr int kItems = (kItemsPerThread * 4 + kStateBytes - 1) / kStateBytes;
//% end
constexpr int kSliceItems = kItems * kWarpThreads;

// True if an item begins a segment.
__device__ __forceinline__ bool is_head(const Segments& segments, Index item)
{
    //% if flags
    return item == 0 || segments.flags[item] != 0;
    //% else
    return item == 0 || segments.keys[item] != segments.keys[item - 1];
    //% end
}

// Returns to each lane the sum of the counts of all lanes up to it, its own included.
__device__ __forceinline__ int warp_scan_counts(int count)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, count, delta);
        count += lane >= delta ? earlier : 0;
    }
    return count;
}

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head. Serves the end of the input,
// behind which no item is a head, and arrays that are not aligned to vectors.
__device__ __forceinline__ unsigned vote_heads(const Segments& segments, Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    constexpr int kTogether = 4;  // rows of 32 items that are read at once
    unsigned rows = 0;            // lane k has the heads of row k
    #pragma unroll 1
    for (int k = 0; k < kItems; k += kTogether) {
        bool found[kTogether];
        #pragma unroll
        for (int ahead = 0; ahead < kTogether; ++ahead) {
            const Index item = begin + (k + ahead) * kWarpThreads + lane;
            found[ahead] = k + ahead < kItems && item < segments.num_items && is_head(segments, item);
        }
        #pragma unroll
        for (int ahead = 0; ahead < kTogether; ++ahead) {
            const unsigned row = __ballot_sync(kFullMask, found[ahead]);
            if (lane == k + ahead)
                rows = row;
        }
    }
    const int bit = lane * kItems;
    const unsigned low = __shfl_sync(kFullMask, rows, bit / kWarpThreads);
    const unsigned high = __shfl_sync(kFullMask, rows, (bit / kWarpThreads + 1) % kWarpThreads);
    return __funnelshift_r(low, high, bit % kWarpThreads) & ((1u << kItems) - 1u);
}

//% if flags
// The flags of a lane's items. They are read in the widest vectors that divide them.
constexpr int kFlagVector = (kItems & -kItems) < 16 ? kItems & -kItems : 16;
struct __align__(kFlagVector) LaneFlags {
    unsigned char at[kItems];
};

// `flags` has a flag in each byte. Returns 1 in the highest bit of each byte whose flag is not 0.
__device__ __forceinline__ unsigned set_flags(unsigned flags)
{
    return (((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags) & 0x80808080u;
}

// Returns a bit for each of a lane's flags: 1 if the flag is not 0.
__device__ __forceinline__ unsigned flag_bits(const LaneFlags& flags)
{
    unsigned bits = 0;
    if (kItems % 4 == 0) {
        const unsigned* const words = reinterpret_cast<const unsigned*>(flags.at);
        #pragma unroll
        for (int k = 0; k < kItems; k += 8) {  // the bytes' highest bits, weighed and added
            unsigned eight = __dp4a(set_flags(words[k / 4]), 0x08040201u, 0u);
            if (k + 4 < kItems)
                eight = __dp4a(set_flags(words[k / 4 + 1]), 0x80402010u, eight);
            bits |= eight >> 7 << k;
        }
    } else {
        #pragma unroll
        for (int k = 0; k < kItems; ++k)
            bits |= flags.at[k] != 0 ? 1u << k : 0u;
    }
    return bits;
}
//% else
// Neighbouring keys that a lane reads at once: up to 16 bytes, and a power of 2 that divides kItems.
constexpr int kMostKeys = 16 / int(sizeof(Key));
constexpr int kVectorKeys = (kItems & -kItems) < kMostKeys ? kItems & -kItems : kMostKeys;
constexpr int kKeyRows = kItems / kVectorKeys;  // rows of 32 vectors
struct __align__(kVectorKeys * sizeof(Key)) KeyVector {
    Key at[kVectorKeys];
};

// Returns a bit for each key of a lane's vector: 1 if it differs from the key before it. `before_row` is the
// key before the row of vectors; it becomes the row's last key in lane 0.
__device__ __forceinline__ unsigned vector_heads(const KeyVector& keys, Key& before_row)
{
    const int lane = threadIdx.x % kWarpThreads;
    // The key before a lane's vector is the last key of the lane below; for lane 0, of the row before.
    const Key last = keys.at[kVectorKeys - 1];
    const Key turned = Key(__shfl_sync(kFullMask, last, (lane + kWarpThreads - 1) % kWarpThreads));
    Key before = lane == 0 ? before_row : turned;
    before_row = turned;
    unsigned bits = 0;
    #pragma unroll
    for (int k = 0; k < kVectorKeys; ++k) {
        bits |= keys.at[k] != before ? 1u << k : 0u;
        before = keys.at[k];
    }
    return bits;
}

// Returns a bit for each of a lane's kItems items, from the bits that lanes stored for the keys that they
// read.
__device__ __forceinline__ unsigned exchanged_heads(const unsigned short* exchange)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned heads = 0;
    #pragma unroll
    for (int k = 0; k < kKeyRows; ++k)
        heads |= unsigned(exchange[lane * kKeyRows + k]) << (k * kVectorKeys);
    return heads;
}

// Stores the keys of the segments that begin in a slice; neighbouring lanes store those of neighbouring
// segments. The first of these segments has number `first`. `rank` is the number of heads in the slice before
// this lane's items. All lanes share `places`. A lane reads several keys at once.
__device__ __forceinline__ void store_slice_keys(unsigned short* places, const Segments& segments,
                                                 unsigned heads, int rank, int num_heads, Index begin,
                                                 Index first)
{
    constexpr int kTogether = 4;
    const int lane = threadIdx.x % kWarpThreads;
    unsigned short* place_of_head = places + rank;
    #pragma unroll 1
    for (unsigned rest = heads; rest != 0; rest &= rest - 1u)
        *place_of_head++ = (unsigned short)(lane * kItems + __ffs(int(rest)) - 1);
    __syncwarp();  // all places are written
    #pragma unroll 1
    for (int head = lane; head < num_heads; head += kTogether * kWarpThreads) {
        Key read[kTogether];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (head + k * kWarpThreads < num_heads)
                read[k] = segments.keys[begin + places[head + k * kWarpThreads]];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (head + k * kWarpThreads < num_heads)
                segments.found_keys[first + head + k * kWarpThreads] = read[k];
    }
}
//% end
