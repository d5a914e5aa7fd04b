//% use parts/reduce/on_way.cuh
//% use parts/reduce/state_pieces.cuh
// States of earlier tiles by look-back (Merrill & Garland 2016), joined in an order that follows from the
// segments alone: results are the same in every run, also where combine() rounds. kSpanTiles consecutive tiles
// are a span, and as many spans a stretch. Each tile tells the state of its own items of the segment that is
// open behind it; the last tile of a span tells that of the span's items, and the last one of a stretch that of
// all items. So a tile reads no more states than those of its span's tiles, of its stretch's spans, and one.
//
// A state travels in pieces of 32 bits. The upper half of each piece's word holds the launch's tag, so that
// words of earlier launches are ignored and readers need no fence.
constexpr int kLevels = 3;  // tiles, spans, stretches

// Returns the place of a state of a level: that of the tile, span or stretch which contains `tile`.
__device__ __forceinline__ i64 state_place(int level, Index tile)
{
    const i64 spans = i64(gridDim.x) / kSpanTiles + 1;
    return level == 0   ? i64(tile)
           : level == 1 ? i64(gridDim.x) + tile / kSpanTiles
                        : i64(gridDim.x) + spans + tile / (kSpanTiles * kSpanTiles);
}

// Tells a state. One lane calls it.
__device__ __forceinline__ void tell_state(volatile u64* words, int level, Index tile, unsigned tag,
                                           const State& state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        words[state_place(level, tile) * kStatePieces + k] = u64(tag) << 32 | pieces.at[k];
}

// True for the last tile of a span, or of a stretch.
__device__ __forceinline__ bool is_last_of_span(Index tile) { return (tile + 1) % kSpanTiles == 0; }
__device__ __forceinline__ bool is_last_of_stretch(Index tile)
{
    return (tile + 1) % (kSpanTiles * kSpanTiles) == 0;
}

// Reads a state. Returns true once all of its pieces have come.
__device__ __forceinline__ bool ask_state(const volatile u64* words, i64 place, unsigned tag, State& state)
{
    StatePieces pieces;
    bool is_told = true;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k) {
        const u64 word = words[place * kStatePieces + k];
        is_told = is_told && unsigned(word >> 32) == tag;
        pieces.at[k] = unsigned(word);
    }
    state = pieces.state;
    return is_told;
}

// Returns to lane 0 the join of the states of the first `count` lanes. A higher lane's items lie farther back.
__device__ __forceinline__ State join_lanes(State state, int count)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State farther = shuffle_down(state, delta);
        if (lane + delta < count)
            state = join_on_way(farther, state);
    }
    return state;
}

// Returns to lane 0 of a warp the state of the segment that is open before `tile`. The way enters this segment
// in the earlier tile `entry`. Tiles must be taken in their order by running blocks, so that the wait for them
// ends. If the segment goes on behind the tile, `own` is the state of the tile's items, and the function tells
// the states that depend on earlier tiles.
__device__ __forceinline__ State look_back_states(volatile u64* words, Index tile, Index entry, unsigned tag,
                                               bool goes_on, State own)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index span = tile / kSpanTiles;
    const Index stretch = span / kSpanTiles;
    const Index nearest[kLevels] = {tile, span, stretch};
    const Index farthest[kLevels] = {max(entry, span * kSpanTiles),
                                     max(entry / kSpanTiles, stretch * kSpanTiles), stretch - 1};
    int counts[kLevels];
    i64 places[kLevels];
    bool is_told[kLevels];
    State states[kLevels];
    Index tiles = 1;  // of each state of a level
    #pragma unroll
    for (int level = 0; level < kLevels; ++level) {
        // States of a level are needed if the segment began before those of the levels below.
        const bool is_needed = level == 0 || entry < nearest[level] * tiles;
        counts[level] = is_needed ? int(nearest[level] - farthest[level]) : 0;
        is_told[level] = lane >= counts[level];
        // Lanes without a state read that of their own tile.
        places[level] = is_told[level] ? state_place(0, tile)
                                       : state_place(level, (nearest[level] - 1 - lane) * tiles);
        states[level] = identity();
        tiles *= kSpanTiles;
    }
    // The words of all levels are asked for at once if registers hold the states. What a span's last tile tells
    // waits for the tiles alone.
    State before = identity();
    bool is_known = false;  // true if `before` holds states
    #pragma unroll
    for (int level = 0; level < kLevels; ++level) {
        while (!is_told[level]) {
            #pragma unroll
            for (int other = level; other < (sizeof(State) <= 32 ? kLevels : level + 1); ++other) {
                State read;
                const bool is_there = ask_state(words, places[other], tag, read);
                if (!is_told[other] && is_there) {
                    states[other] = read;
                    is_told[other] = true;
                }
            }
        }
        const State farther = level == 2 ? states[level] : join_lanes(states[level], counts[level]);
        if (counts[level] > 0) {
            before = is_known ? join_on_way(farther, before) : farther;
            is_known = true;
        }
        if (lane == 0 && goes_on && level == 0 && is_last_of_span(tile))
            tell_state(words, 1, tile, tag, is_known ? join_on_way(before, own) : own);
        if (lane == 0 && goes_on && level == 2 && is_last_of_stretch(tile))
            tell_state(words, 2, tile, tag, join_on_way(before, own));
    }
    return before;
}
