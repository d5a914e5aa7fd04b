//% use parts/reduce/on_way.cuh
//% use parts/reduce/state_pieces.cuh
// States of earlier tiles by decoupled look-back (Merrill & Garland 2016). A tile publishes its state in
// pieces of 32 bits. Each piece has a word that holds, from the top: 30 bits of the launch's number, so that
// words of earlier launches are ignored; 2 bits with one of the values below; the piece. If all words of a
// tile have the same value there, the state is complete, so readers need no fence.
constexpr unsigned kOwnState = 1;    // state of the tile's items; one segment goes through the tile
constexpr unsigned kWholeState = 2;  // state of all items of the segment that is open behind the tile

__device__ __forceinline__ u64 state_word(unsigned launch, unsigned what, unsigned piece)
{
    return u64(launch << 2 | what) << 32 | piece;
}

// Publishes a state of a tile. One lane calls it.
__device__ __forceinline__ void tell_state(volatile u64* words, Index tile, unsigned launch, unsigned what,
                                           const State& state)
{
    const StatePieces pieces = pieces_of(state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        words[tile * kStatePieces + k] = state_word(launch, what, pieces.at[k]);
}

// Reads the state that a tile has published. Returns its kind, or 0 until all its words are of one kind.
__device__ __forceinline__ unsigned ask_state(const volatile u64* words, Index tile, unsigned launch,
                                              State& state)
{
    StatePieces pieces;
    unsigned what = 0;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k) {
        const u64 word = words[tile * kStatePieces + k];
        const unsigned tag = unsigned(word >> 32);
        const bool is_own = tag == unsigned(state_word(launch, kOwnState, 0) >> 32);
        const bool is_whole = tag == unsigned(state_word(launch, kWholeState, 0) >> 32);
        const unsigned its_kind = is_own ? kOwnState : is_whole ? kWholeState : 0u;
        what = k == 0 || what == its_kind ? its_kind : 0u;
        pieces.at[k] = unsigned(word);
    }
    state = pieces.state;
    return what;
}

// Returns the state of the segment that is open before `tile` to all lanes of a warp. `tile` is not the first
// tile. Tiles must be taken in their order by running blocks, so that the wait for them ends.
__device__ __noinline__ State look_back_states(const volatile u64* words, Index tile, unsigned launch)
{
    const int lane = threadIdx.x % kWarpThreads;
    Index other = tile - 1 - lane;  // the tile that this lane reads
    State before = identity();
    for (bool is_nearest = true;; is_nearest = false) {
        State state = identity();
        unsigned what = 0;
        unsigned wholes = 0;
        int last = 0;  // the nearest lane with a whole state; 31 if there is none
        for (;;) {
            if (what == 0 && other >= 0)
                what = ask_state(words, other, launch, state);
            wholes = __ballot_sync(kFullMask, what == kWholeState);
            const unsigned known = __ballot_sync(kFullMask, what != 0);
            last = wholes == 0 ? kWarpThreads - 1 : __ffs(int(wholes)) - 1;
            if ((~known & kFullMask >> (kWarpThreads - 1 - last)) == 0)
                break;
        }
        // Lane 0 gets the joined states of all lanes up to `last`, whose tile lies farthest back.
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State farther = shuffle_down(state, delta);
            if (lane + delta <= last)
                state = join_on_way(farther, state);
        }
        state = shuffle(state, 0);
        before = is_nearest ? state : join_on_way(state, before);
        if (wholes != 0)
            return before;
        other -= kWarpThreads;
    }
}
