// Heads: items of flags or keys that begin a segment. A slice is what a warp takes at a time, kItems
// consecutive items for each lane; some slices, one behind the other, are the warp's share of a tile.
// Wide states get fewer items, so that a slice takes the same room.
constexpr int kStateBytes = sizeof(State) < 4 ? 4 : int(sizeof(State));
constexpr int kItems = (kItemsPerThread * 4 + kStateBytes - 1) / kStateBytes;
constexpr int kSliceItems = kItems * kWarpThreads;
constexpr int kMarks = kMostSlicesPerWarp * kWarpThreads;  // of a share: a bit for each item

// True for an item that begins a segment.
__device__ __forceinline__ bool is_head(const Segments& segments, Index item)
{
    //% if flags
    return item == 0 || segments.flags[item] != 0;
    //% else
    return item == 0 || segments.keys[item] != segments.keys[item - 1];
    //% end
}

// Gives each lane the sum of the counts of the lanes up to it, itself included.
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

// One bit for each of a lane's kItems items of a slice that is a head. For the end of the input, beyond
// which lies no head, and for arrays that vectors do not fit.
__device__ __forceinline__ unsigned vote_heads(const Segments& segments, Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned rows = 0;  // lane k has the heads of the k-th 32 items
    #pragma unroll 1
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + k * kWarpThreads + lane;
        const unsigned row = __ballot_sync(kFullMask, item < segments.num_items && is_head(segments, item));
        if (lane == k)
            rows = row;
    }
    const int bit = lane * kItems;
    const unsigned low = __shfl_sync(kFullMask, rows, bit / kWarpThreads);
    const unsigned high = __shfl_sync(kFullMask, rows, (bit / kWarpThreads + 1) % kWarpThreads);
    return __funnelshift_r(low, high, bit % kWarpThreads) & ((1u << kItems) - 1u);
}

//% if flags
// The flags of a lane's items, which are read in the widest vectors that divide them.
constexpr int kFlagVector = (kItems & -kItems) < 16 ? kItems & -kItems : 16;
struct __align__(kFlagVector) LaneFlags {
    unsigned char at[kItems];
};

// One bit for each of four flags.
__device__ __forceinline__ unsigned four_flags(unsigned flags)
{
    const unsigned highest = ((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags;  // bit of each byte: it is not 0
    return ((highest >> 7 & 0x01010101u) * 0x10204080u) >> 28;
}

// One bit for each of a lane's flags.
__device__ __forceinline__ unsigned flag_bits(const LaneFlags& flags)
{
    unsigned bits = 0;
    if (kItems % 4 == 0) {
        #pragma unroll
        for (int k = 0; k < kItems; k += 4)
            bits |= four_flags(*reinterpret_cast<const unsigned*>(flags.at + k)) << k;
    } else {
        #pragma unroll
        for (int k = 0; k < kItems; ++k)
            bits |= flags.at[k] != 0 ? 1u << k : 0u;
    }
    return bits;
}

// Puts the heads of a warp's share into its `marks`; returns a lane's number of them. Flags of four slices
// are under way at once.
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
                heads |= begin + slice + k + lane == 0 ? 1u : 0u;  // a segment begins with the input
                marks[(slice + k) * kWarpThreads + lane] = (unsigned short)heads;
                count += __popc(heads);
            }
    }
    return count;
}
//% else
// Neighbouring keys that a lane reads at once: up to 16 bytes, and a power of 2 that divides kItems.
constexpr int kMostKeys = 16 / int(sizeof(Key));
constexpr int kVectorKeys = (kItems & -kItems) < kMostKeys ? kItems & -kItems : kMostKeys;
constexpr int kKeyRows = kItems / kVectorKeys;  // each of 32 vectors
struct __align__(kVectorKeys * sizeof(Key)) KeyVector {
    Key at[kVectorKeys];
};

// Keys of the first heads of a share. They are stored when the number of earlier heads is known, and need
// not be read again. Of 48 KiB a warp keeps as many as the rest of its shared memory leaves room for.
constexpr int kOtherBytes = (kSliceItems + kSliceItems / 16 + 3) * int(sizeof(State)) + 4 * kMarks
    //% if uses_length
    + 2 * kSliceItems
    //% end
    + 512;
constexpr int kWarpBytes = (48 * 1024 - 256) / (kMostBlockThreads / kWarpThreads - 1);
constexpr int kRoom = (kWarpBytes - kOtherBytes) / int(sizeof(Key)) / 16 * 16;
constexpr int kMostHeldKeys = kRoom < 1024 ? kRoom : 1024;
struct HeldKeys {
    union {
        Key at[kMostHeldKeys];
        unsigned short places[kSliceItems];  // of a slice's heads, when those keys are stored
    };
    unsigned short exchange[kKeyRows * kWarpThreads];  // a bit a key, from the lane that read it
    int count;                                         // of the first `slices` slices
    int slices;
};

// One bit for each of a lane's kItems items of a slice that is a head. The bits are found where the keys were
// read, and go to the lane that has the items. `num_heads` are those of the share up to the slice.
__device__ __forceinline__ unsigned hold_keys(HeldKeys& held, const KeyVector (&keys)[kKeyRows],
                                              Key before_slice, bool is_first, int& num_heads)
{
    const int lane = threadIdx.x % kWarpThreads;
    Key before_row = before_slice;
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        // The key before a lane's own is the last of the lane below, for lane 0 the last of the row before.
        const Key last = keys[row].at[kVectorKeys - 1];
        const Key turned = Key(__shfl_sync(kFullMask, last, (lane + kWarpThreads - 1) % kWarpThreads));
        Key before = lane == 0 ? before_row : turned;
        before_row = turned;
        unsigned bits = row == 0 && is_first && lane == 0 ? 1u : 0u;  // a segment begins with the input
        int place = num_heads;
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k) {
            bits |= keys[row].at[k] != before ? 1u << k : 0u;
            before = keys[row].at[k];
            const unsigned voted = __ballot_sync(kFullMask, bits >> k & 1u);
            place += __popc(voted & ((1u << lane) - 1u));
            num_heads += __popc(voted);
        }
        held.exchange[row * kWarpThreads + lane] = (unsigned short)bits;
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k)
            if (bits >> k & 1u) {
                if (place < kMostHeldKeys)
                    held.at[place] = keys[row].at[k];
                ++place;
            }
    }
    __syncwarp();  // all lanes' bits are there
    unsigned heads = 0;
    #pragma unroll
    for (int k = 0; k < kKeyRows; ++k)
        heads |= unsigned(held.exchange[lane * kKeyRows + k]) << (k * kVectorKeys);
    __syncwarp();  // all lanes have them, the next slice may write its own
    return heads;
}

// Puts the heads of a warp's share into its `marks`, and the keys of the first of them into `held`; returns a
// lane's number of heads.
__device__ __forceinline__ int find_heads(unsigned short* marks, HeldKeys& held, const Segments& segments,
                                          Index begin, int num_slices)
{
    const int lane = threadIdx.x % kWarpThreads;
    const bool fits = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    int count = 0;      // the lane's
    int num_heads = 0;  // the warp's
    int held_count = 0;
    int held_slices = 0;
    #pragma unroll 1
    for (int slice = 0; slice < num_slices; ++slice) {
        const Index first = begin + slice * kSliceItems;
        unsigned heads = 0;
        if (fits && first + kSliceItems <= segments.num_items) {
            KeyVector keys[kKeyRows];
            #pragma unroll
            for (int row = 0; row < kKeyRows; ++row)
                keys[row] =
                    reinterpret_cast<const KeyVector*>(segments.keys + first)[row * kWarpThreads + lane];
            const Key before = segments.keys[first > 0 ? first - 1 : 0];
            heads = hold_keys(held, keys, before, first == 0, num_heads);
            if (held_slices == slice && num_heads <= kMostHeldKeys) {
                held_count = num_heads;
                held_slices = slice + 1;
            }
        } else {
            heads = vote_heads(segments, first);
        }
        marks[slice * kWarpThreads + lane] = (unsigned short)heads;
        count += __popc(heads);
    }
    if (lane == 0) {
        held.count = held_count;
        held.slices = held_slices;
    }
    return count;
}

// Stores the keys of the segments that begin in a warp's share; `first` begin before it.
__device__ __forceinline__ void store_keys(HeldKeys& held, const unsigned short* marks,
                                           const Segments& segments, Index begin, int num_slices, Index first)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < held.count; place += kWarpThreads)
        segments.found_keys[first + place] = held.at[place];
    first += held.count;
    // For the others there was no room. Several keys of a lane are under way at once.
    constexpr int kTogether = 4;
    #pragma unroll 1
    for (int slice = held.slices; slice < num_slices; ++slice) {
        __syncwarp();  // all lanes are done with what lies where places go
        const unsigned heads = marks[slice * kWarpThreads + lane];
        const int up_to_here = warp_scan_counts(__popc(heads));
        const int slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
        unsigned short* place_of_head = held.places + up_to_here - __popc(heads);
        #pragma unroll 1
        for (unsigned rest = heads; rest != 0; rest &= rest - 1u)
            *place_of_head++ = (unsigned short)(lane * kItems + __ffs(int(rest)) - 1);
        __syncwarp();  // all places are there
        const Key* const keys = segments.keys + begin + slice * kSliceItems;
        #pragma unroll 1
        for (int head = lane; head < slice_heads; head += kTogether * kWarpThreads) {
            Key read[kTogether];
            #pragma unroll
            for (int k = 0; k < kTogether; ++k)
                if (head + k * kWarpThreads < slice_heads)
                    read[k] = keys[held.places[head + k * kWarpThreads]];
            #pragma unroll
            for (int k = 0; k < kTogether; ++k)
                if (head + k * kWarpThreads < slice_heads)
                    segments.found_keys[first + head + k * kWarpThreads] = read[k];
        }
        first += slice_heads;
    }
    __syncwarp();  // all lanes are done with the share
}
//% end
