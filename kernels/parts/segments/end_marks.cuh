// Marks in shared memory: the items of a warp's tile with which a segment ends.
//% if items_per_thread == 64
using Bits = u64;             // a bit for each item of a lane's row
//% elif items_per_thread == 32
using Bits = unsigned;        // a bit for each item of a lane's row
//% elif items_per_thread == 16
using Bits = unsigned short;  // a bit for each item of a lane's row
//% else
using Bits = unsigned char;   // a bit for each item of a lane's row
//% end
//% if byte_marks == 1
using Marks = unsigned char;  // a byte for each item of a tile: 1 if a segment ends with it
//% else
using Marks = unsigned;       // a bit for each item of a tile: 1 if a segment ends with it
//% end

//% if byte_marks == 1
// Marks an item of the tile. Ignores a place outside of the tile.
__device__ __forceinline__ void mark(Marks* marks, Index place)
{
    if (place >= 0 && place < kTileItems)
        marks[place] = 1;
}

// Returns the marks of this lane's row, and clears them.
__device__ __forceinline__ Bits take_marks(Marks* marks)
{
    uint4* const mine = reinterpret_cast<uint4*>(marks + threadIdx.x % kWarpThreads * kItemsPerThread);
    Bits bits = 0;
    #pragma unroll
    for (int k = 0; k < kItemsPerThread / 16; ++k) {
        const uint4 some = mine[k];
        mine[k] = uint4{0, 0, 0, 0};
        const unsigned low = __dp4a(some.y, 0x80402010u, __dp4a(some.x, 0x08040201u, 0u));
        const unsigned high = __dp4a(some.w, 0x80402010u, __dp4a(some.z, 0x08040201u, 0u));
        bits |= Bits(Bits(low | high << 8) << 16 * k);
    }
    return bits;
}
//% else
// Marks an item of the tile. A place outside of the tile sets no bit, in a word that few lanes share: a
// branch would cost more.
__device__ __forceinline__ void mark(Marks* marks, Index place)
{
    const unsigned bit = place >= 0 && place < kTileItems ? 1u << (place & 31) : 0;
    atomicOr(marks + unsigned(place) / 32 % (kTileItems / 32), bit);
}

// Returns the marks of this lane's row, and clears them.
__device__ __forceinline__ Bits take_marks(Marks* marks)
{
    Bits* const mine = reinterpret_cast<Bits*>(marks) + threadIdx.x % kWarpThreads;
    const Bits bits = *mine;
    *mine = 0;
    return bits;
}
//% end
