//% use parts/segments/segment_items.cuh
//% use parts/reduce/state_pieces.cuh
// Where two neighbouring tiles meet, what one leaves open and what the other ends are joined by the block
// that comes second. No block waits for another, so blocks may run in any order.
constexpr unsigned kHead = 1;     // from behind: up to the tile's first end, of a segment begun before it
constexpr unsigned kNoHead = 2;   // from behind: no segment is cut here
constexpr unsigned kWaiting = 3;  // from behind: an end; above kWhat, how far behind its group begins
constexpr unsigned kThrough = 4;  // from before: all of a tile in which no segment ends
constexpr unsigned kBegun = 5;    // from before: what is behind the tile's last end, or all of the first tile
constexpr unsigned kWhat = 7;     // the bits of these
constexpr int kWhatBits = 3;
constexpr int kRest = kStatePieces - 1;  // pieces of a state that do not fit into the border's word

// Border k lies behind tile k. Its word is 0 until a block comes, and again when the second one has come.
// From the top it says what came, and has the first piece of the state. So do the words of the other pieces.
struct Borders {
    volatile u64* words;
    volatile u64* rest;  // 2 * kRest for each border: those from before, those from behind
};

// What the block that was first left at a border.
struct Came {
    unsigned what;  // 0 where there is no such block yet
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

// Brings a state to a border. The block that comes first gets nothing; the second one gets what the other
// left, and leaves zeros behind for the next launch. One lane calls it.
__device__ __forceinline__ Came bring(const Borders& borders, Index border, unsigned what, State state)
{
    const int side = what <= kNoHead ? 1 : 0;
    volatile u64* const own_rest = borders.rest + (2 * border + side) * kRest;
    volatile u64* const other_rest = borders.rest + (2 * border + 1 - side) * kRest;
    const StatePieces pieces = pieces_of(state);
    u64 came[kStatePieces];
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        came[k] = other_rest[k - 1];  // on its way while the words are exchanged
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

// Leaves what a tile had brought from before, as if nobody had come from behind. One lane calls it.
__device__ __forceinline__ void leave(const Borders& borders, Index border, unsigned what, State state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 1; k < kStatePieces; ++k)
        borders.rest[2 * border * kRest + k - 1] = u64(what) << 32 | pieces.at[k];
    borders.words[border] = u64(what) << 32 | pieces.at[0];
}

// Lets the end of a segment wait at the border of a tile that has not come, `behind` borders before the group
// that it is behind. False where the tile has come meanwhile. One lane calls it.
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

// Joins the end of `segment` with what is before border `border + 1`, back to where the segment begins, and
// stores it. Tiles are taken in groups of a warp's size, counted from the segment's end, so that what is
// combined with what does not depend on when tiles come. Where a tile of the group has not come to its border
// yet, the end waits there, and that tile's block goes on with the whole group. A whole warp calls it. It
// takes copies: every thread would keep in memory what a reference is to.
__device__ __noinline__ void join_back(Borders borders,
                                       Segments segments,
                                       Results results,
                                       Index segment,
                                       Index border,
                                       State end)
{
    const int lane = threadIdx.x % kWarpThreads;
    while (border >= 0) {  // all segments begin in the first tile or behind it
        // The tiles of the group, the nearest in lane 0.
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
        const unsigned missing = __ballot_sync(kFullMask, !is_there);  // lanes without a tile among them
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

// Meets the tile that came to `border` first: lane `caller` brought `state` there, from before or from
// behind, and got `came`. A whole warp calls it.
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
    __syncwarp();  // all lanes see what is left
    State end = what == kHead ? combine(other, state) : combine(state, other);
    end = has_waited ? other : end;
    const Index from = has_waited ? border + Index(other_what >> kWhatBits) : border - 1;
    const unsigned before = what == kHead ? other_what : what;
    if (has_waited || before == kThrough)
        join_back(borders, segments, results, segment, from, end);
    else if (threadIdx.x % kWarpThreads == 0)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), end);
}
