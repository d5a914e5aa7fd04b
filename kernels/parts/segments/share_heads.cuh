//% use parts/segments/slice_heads.cuh
//% if flags
//% use parts/segments/flag_heads.cuh
//% end
// The heads of a warp's share of a tile. A share consists of consecutive slices. Its heads are found before
// anything is folded, and are kept as marks.
constexpr int kMarks = kMostSlicesPerWarp * kWarpThreads;  // marks of a share, one for each lane and slice

//% if keys
// Keys of the first heads of a share. They are kept until the number of earlier heads is known, so that they
// need not be read again. A warp keeps as many keys as its part of 48 KiB leaves room for. 512 bytes are
// enough for `exchange` and small members, unless lanes have an odd number of items: lanes then read single
// keys, and `exchange` is longer.
constexpr int kExchangeBytes = 2 * kKeyRows * kWarpThreads;
constexpr int kOtherBytes = (kSliceItems + kSliceItems / 16 + 3) * int(sizeof(State)) + 4 * kMarks
    //% if uses_length
    + 2 * kSliceItems
    //% end
    + (kExchangeBytes <= 512 ? 512 : kExchangeBytes + 32);
constexpr int kWarpBytes = (48 * 1024 - 256) / (kMostBlockThreads / kWarpThreads - 1);
constexpr int kRoom = (kWarpBytes - kOtherBytes) / int(sizeof(Key)) / 16 * 16;
constexpr int kMostHeldKeys = kRoom < 1024 ? kRoom : 1024;
struct HeldKeys {
    union {
        Key at[kMostHeldKeys];
        unsigned short places[kSliceItems];  // places of a slice's heads; used after `at` is stored
    };
    unsigned short exchange[kKeyRows * kWarpThreads];  // for each lane, bits of the keys that it reads
    int count;                                         // keys in `at`: heads of the first `slices` slices
    int slices;
};

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head. Lanes find the bits of the keys
// that they read, and exchange them for the bits of their items. `num_heads` counts the heads of the share.
__device__ __forceinline__ unsigned hold_keys(HeldKeys& held, const KeyVector (&keys)[kKeyRows],
                                              Key before_slice, bool is_first, int& num_heads)
{
    const int lane = threadIdx.x % kWarpThreads;
    Key before_row = before_slice;
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        unsigned bits = vector_heads(keys[row], before_row);
        bits |= row == 0 && is_first && lane == 0 ? 1u : 0u;  // the input's first item is a head
        held.exchange[row * kWarpThreads + lane] = (unsigned short)bits;
        int place = num_heads;
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k) {
            const unsigned voted = __ballot_sync(kFullMask, bits >> k & 1u);
            place += __popc(voted & ((1u << lane) - 1u));
            num_heads += __popc(voted);
        }
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k)
            if (bits >> k & 1u) {
                if (place < kMostHeldKeys)
                    held.at[place] = keys[row].at[k];
                ++place;
            }
    }
    __syncwarp();  // all lanes have written their bits
    const unsigned heads = exchanged_heads(held.exchange);
    __syncwarp();  // all lanes have read the bits, so the next slice may write
    return heads;
}

// Stores the heads of a warp's share in its `marks`, and the keys of the first heads in `held`. Returns the
// number of a lane's heads.
__device__ __forceinline__ int find_heads(unsigned short* marks, HeldKeys& held, const Segments& segments,
                                          Index begin, int num_slices)
{
    const int lane = threadIdx.x % kWarpThreads;
    const bool fits = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    int count = 0;      // heads in the lane's items so far
    int num_heads = 0;  // heads in all lanes' items so far
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

// Stores the keys of the segments that begin in a warp's share. `first` is the number of segments that begin
// before it.
__device__ __forceinline__ void store_keys(HeldKeys& held, const unsigned short* marks,
                                           const Segments& segments, Index begin, int num_slices, Index first)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < held.count; place += kWarpThreads)
        segments.found_keys[first + place] = held.at[place];
    first += held.count;
    // Keys that `held` had no room for are read again.
    #pragma unroll 1
    for (int slice = held.slices; slice < num_slices; ++slice) {
        __syncwarp();  // all lanes are done with `at` or the earlier places
        const unsigned heads = marks[slice * kWarpThreads + lane];
        const int up_to_here = warp_scan_counts(__popc(heads));
        const int slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
        store_slice_keys(held.places, segments, heads, up_to_here - __popc(heads), slice_heads,
                         begin + slice * kSliceItems, first);
        first += slice_heads;
    }
    __syncwarp();  // all lanes are done with the share
}
//% end
