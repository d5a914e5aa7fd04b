//% use parts/elements/warp_tile.cuh
//% use parts/elements/copy_offsets.cuh
//% use parts/segments/end_marks.cuh
constexpr int kSteps = kItemsPerThread / kStepItems;
constexpr int kStepBytes = kStepItems * sizeof(State);
constexpr int kStepAlignment = kStepBytes % 16 == 0 ? 16 : kStepBytes % 8 == 0 ? 8 : 4;

// The runs behind the items of one step of a lane.
struct alignas(kStepAlignment) States {
    State at[kStepItems];
};

// A warp's part of shared memory. It begins at a multiple of 128 bytes, which is a row of all banks. Copies
// to rows that straddle two rows of banks lose a tenth of the rate.
struct alignas(128) Row {
    char bytes[128];
};
struct Desk {
    Tile* tile;     // a tile; moved to registers or lifted before the next tile is copied there
    char* states;   // kStateRow bytes for each lane: its run behind each item; then the identity
    Marks* marks;
    Index* ring;    // offset i is at i % ring_offsets; the first kChunkOffsets follow once more at the end
    State* staged;  // the share's head, then totals until they are stored
};

__device__ __forceinline__ Desk lay_out(char* own, int ring_offsets)
{
    Desk desk;
    desk.tile = reinterpret_cast<Tile*>(own);
    desk.states = own + sizeof(Tile);
    constexpr int states_bytes = kStateRow * kWarpThreads + int(sizeof(State));
    desk.marks = reinterpret_cast<Marks*>(desk.states + (states_bytes + 15) / 16 * 16);
    desk.ring = reinterpret_cast<Index*>(reinterpret_cast<char*>(desk.marks) + kMarksBytes);
    desk.staged = reinterpret_cast<State*>(desk.ring + ring_offsets + kChunkOffsets);
    return desk;
}

// Starts to copy offsets from `copied` on, as many as the ring has room for while the offsets from `next` on
// stay.
__device__ __forceinline__ void fill_ring(const Segments& segments,
                                          Index* ring,
                                          int ring_offsets,
                                          Index next,
                                          Index end_segment,
                                          Index& copied)
{
    #pragma unroll 1
    while (copied + kChunkOffsets <= next + ring_offsets && copied <= end_segment) {
        copy_offsets(ring, ring_offsets, segments, copied);
        if ((unsigned(copied) & (ring_offsets - 1)) == 0)
            copy_offsets(ring + ring_offsets, ring_offsets, segments, copied);
        copied += kChunkOffsets;
    }
}

// Marks the last items of the segments from `next` to `known` - 1 that end in the tile. Returns the first
// segment that does not end there.
__device__ __forceinline__ Index mark_ends(const Desk& desk,
                                           int ring_offsets,
                                           Index tile_begin,
                                           Index next,
                                           Index known)
{
    const int lane = threadIdx.x % kWarpThreads;
    for (;;) {
        const Index* const mine = desk.ring + (unsigned(next + lane) & (ring_offsets - 1));
        Index places[kEndsAtOnce];
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kEndsAtOnce; ++k) {
            places[k] = -32 * (lane + 1);  // an unknown end sets no bit; lanes use different words
            if (next + k * kWarpThreads + lane < known)
                places[k] = mine[k * kWarpThreads + 1] - tile_begin - 1;
        }
        #pragma unroll
        for (int k = 0; k < kEndsAtOnce; ++k) {
            const bool is_known = next + k * kWarpThreads + lane < known;
            //% if byte_marks == 1 && allows_empty
            // An empty segment marks nothing, so no two lanes write the same byte.
            if (is_known && mine[k * kWarpThreads] - tile_begin - 1 < places[k])
                mark(desk.marks, places[k]);
            //% else
            mark(desk.marks, places[k]);
            //% end
            count += __popc(__ballot_sync(kFullMask, is_known && places[k] < kTileItems));
        }
        next += count;
        if (count < kEndsAtOnce * kWarpThreads)
            return next;
    }
}
