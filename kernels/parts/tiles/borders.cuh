//% use parts/segments/segment_items.cuh
//% use parts/reduce/state_pieces.cuh
// Two neighbouring tiles meet at a border: the earlier one may leave a segment open, and the later one may
// end it. The block that comes second joins both. No block waits for another, so blocks may run in any order.
constexpr unsigned kHead = 1;     // of the later tile: items up to its first end; their segment began earlier
constexpr unsigned kNoHead = 2;   // of the later tile: no segment is cut at this border
constexpr unsigned kWaiting = 3;  // of the later tile: an end that waits; above kWhat, `behind` of wait_at()
constexpr unsigned kThrough = 4;  // of the earlier tile: all its items; no segment ends in it
constexpr unsigned kBegun = 5;    // of the earlier tile: items behind its last end; or the whole first tile
constexpr unsigned kWhat = 7;     // mask of these kinds
constexpr int kWhatBits = 3;
constexpr int kRest = kStatePieces - 1;  // pieces of a state that do not fit into the border's word

// Border k lies between tiles k and k + 1. Its word is 0 until a block comes, and again after the second
// block has come. The word's upper half is the kind of the state that came; the lower half is the state's
// first piece. The words of the other pieces have the same form.
struct Borders {
    volatile u64* words;
    volatile u64* rest;  // 2 * kRest for each border: pieces of the earlier tile, then of the later one
};

// The state that the first block left at a border.
struct Came {
    unsigned what;  // the kind of the state; 0 if no block has come
    State state;
};

__device__ __forceinline__ Came put_together(const u64 (&words)[kStatePieces])
{
    StatePieces pieces;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        pieces.at[k] = unsigned(words[k]);
    return {unsigned(words[0] >> 32), pieces.state};
}

// Brings a state to a border. The first block to come gets nothing. The second block gets the other block's
// state, and sets the words to 0 for the next launch. One lane calls it.
__device__ __forceinline__ Came bring(const Borders& borders, Index border, unsigned what, State state)
{
    const int side = what <= kNoHead ? 1 : 0;
    volatile u64* const own_rest = borders.rest + (2 * border + side) * kRest;
    volatile u64* const other_rest = borders.rest + (2 * border + 1 - side) * kRest;
    const StatePieces pieces = pieces_of(state);
    u64 came[kStatePieces];
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        came[k] = other_rest[k - 1];  // under way while the words are exchanged
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        own_rest[k - 1] = u64(what) << 32 | pieces.at[k];
    came[0] = atomicExch(const_cast<u64*>(borders.words) + border, u64(what) << 32 | pieces.at[0]);
    if (came[0] != 0) {
        borders.words[border] = 0;
        #pragma unroll
        for (int k = 1; k < kStatePieces; ++k) {
            while (came[k] == 0)
                came[k] = other_rest[k - 1];
            own_rest[k - 1] = 0;
            other_rest[k - 1] = 0;
        }
    }
    return put_together(came);
}

// Puts the state of the earlier tile back to a border, as if no later tile had come. One lane calls it.
__device__ __forceinline__ void leave(const Borders& borders, Index border, unsigned what, State state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        borders.rest[2 * border * kRest + k - 1] = u64(what) << 32 | pieces.at[k];
    borders.words[border] = u64(what) << 32 | pieces.at[0];
}

// Lets the end of a segment wait at the border of a tile that has not come. This border lies `behind` borders
// before the end's group. Returns false if the tile has come meanwhile. One lane calls it.
__device__ __forceinline__ bool wait_at(const Borders& borders, Index border, int behind, State end)
{
    volatile u64* const rest = borders.rest + (2 * border + 1) * kRest;
    const StatePieces pieces = pieces_of(end);
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        rest[k - 1] = u64(kWaiting) << 32 | pieces.at[k];
    const u64 word = u64(kWaiting | unsigned(behind) << kWhatBits) << 32 | pieces.at[0];
    if (atomicCAS(const_cast<u64*>(borders.words) + border, u64(0), word) == 0)
        return true;
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        rest[k - 1] = 0;
    return false;
}

// Joins the end of `segment` with all tiles before border `border + 1`, back to the segment's begin, and
// stores the segment. Tiles are joined in groups of a warp's size, counted from the segment's end, so the
// order of combination does not depend on when tiles come. If a tile of the group has not come to its border,
// the end waits there, and that tile's block joins the whole group. A whole warp calls it. Parameters are
// copies: references would force every thread to keep their objects in memory.
__device__ __noinline__ void join_back(Borders borders,
                                       Segments segments,
                                       Results results,
                                       Index segment,
                                       Index border,
                                       State end)
{
    const int lane = threadIdx.x % kWarpThreads;
    while (border >= 0) {  // no segment begins before the first tile
        // Each lane takes a tile of the group; lane 0 takes the nearest.
        const int num_tiles = int(min(border + 1, Index(kWarpThreads)));
        const Index mine = border - lane;
        u64 words[kStatePieces];
        bool is_there = true;
        #pragma unroll
        for (int k = kRest; k >= 0; --k) {
            words[k] = 0;
            if (lane < num_tiles)
                words[k] = k == 0 ? borders.words[mine] : borders.rest[2 * mine * kRest + k - 1];
            is_there = is_there && words[k] != 0;
        }
        const Came came_before = put_together(words);
        const unsigned missing = __ballot_sync(kFullMask, !is_there);  // lanes without a word or a tile
        const unsigned begun = __ballot_sync(kFullMask, is_there && came_before.what == kBegun);
        const int first = begun != 0 ? __ffs(int(begun)) - 1 : kWarpThreads;
        const int taken = min(num_tiles, first + 1);
        const int there = missing != 0 ? __ffs(int(missing)) - 1 : kWarpThreads;
        if (there < taken) {
            const bool waits = lane == 0 && wait_at(borders, border - there, there, end);
            if (__shfl_sync(kFullMask, int(waits), 0) != 0)
                return;
            continue;
        }
        State run = identity();
        if (lane < taken) {
            run = came_before.state;
            borders.words[mine] = 0;
            #pragma unroll
            for (int k = 1; k < kStatePieces; ++k)
                borders.rest[2 * mine * kRest + k - 1] = 0;
        }
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_down(run, delta);
            if (lane + delta < kWarpThreads)
                run = combine(earlier, run);
        }
        end = combine(shuffle(run, 0), end);
        border -= taken;
        if (first < kWarpThreads) {
            if (lane == 0) {
                const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
                store(results, segment, length, end);
            }
            return;
        }
    }
}

// Meets the tile that came to `border` first. Lane `caller` has brought `state`, of kind `what`, and has got
// `came`. A whole warp calls it.
__device__ __forceinline__ void meet(const Borders& borders,
                                     const Segments& segments,
                                     const Results& results,
                                     Index segment,
                                     Index border,
                                     int caller,
                                     const Came& came,
                                     unsigned what,
                                     State state)
{
    const unsigned other_what = __shfl_sync(kFullMask, came.what, caller);
    if (other_what == 0 || other_what == kNoHead || what == kNoHead)
        return;
    const State other = shuffle(came.state, caller);
    const bool has_waited = (other_what & kWhat) == kWaiting;
    if (has_waited && threadIdx.x % kWarpThreads == caller)
        leave(borders, border, what, state);
    __syncwarp();  // all lanes see the state that was put back
    State end = what == kHead ? combine(other, state) : combine(state, other);
    end = has_waited ? other : end;
    const Index from = has_waited ? border + Index(other_what >> kWhatBits) : border - 1;
    const unsigned before = what == kHead ? other_what : what;
    if (has_waited || before == kThrough)
        join_back(borders, segments, results, segment, from, end);
    else if (threadIdx.x % kWarpThreads == 0)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), end);
}
