//% use parts/segment_items.cuh
// Where two neighbouring tiles meet, what one leaves open and what the other ends are joined by the block
// that comes second. No block waits for another, so blocks may run in any order.
constexpr unsigned kHead = 1;     // from behind: up to the tile's first end, of a segment begun before it
constexpr unsigned kNoHead = 2;   // from behind: no segment is cut here
constexpr unsigned kThrough = 3;  // from before: all of a tile in which no segment ends
constexpr unsigned kBegun = 4;    // from before: what is behind the tile's last end, or all of the first tile
constexpr bool kFitsWord = sizeof(State) <= 4;

union StateBits {
    State state;
    unsigned low;  // all of a state that fits into a word
};

// Border k lies behind tile k. Its word is 0 until a block comes, and again when the second one has come.
struct Borders {
    volatile u64* words;
    State* states;  // those that do not fit into the word: two for each border
};

__device__ __forceinline__ unsigned what_came(u64 word)
{
    return unsigned(word >> 32);
}

__device__ __forceinline__ State state_that_came(const Borders& borders, Index border, u64 word)
{
    if (!kFitsWord)
        return borders.states[2 * border + (what_came(word) == kHead ? 1 : 0)];
    StateBits bits;
    bits.low = unsigned(word);
    return bits.state;
}

// Brings a state to a border. Gives 0 to the block that comes first; the second one gets the other's word,
// and leaves 0 behind for the next launch. One lane calls it.
__device__ __forceinline__ u64 bring(const Borders& borders, Index border, unsigned what, State state)
{
    StateBits bits;
    bits.low = 0;
    if (kFitsWord) {
        bits.state = state;
    } else {
        borders.states[2 * border + (what <= kNoHead ? 1 : 0)] = state;
        __threadfence();  // the state is seen before the word is
    }
    const u64 came = atomicExch(const_cast<u64*>(borders.words) + border, u64(what) << 32 | bits.low);
    if (came != 0) {
        borders.words[border] = 0;
        if (!kFitsWord)
            __threadfence();  // the state is read after the word was
    }
    return came;
}

// Joins the end of `segment` with what is before border `border + 1`, tile by tile back to where the segment
// begins, and stores it. Where a tile has not come to its border yet, the end waits there, and that tile's
// block goes on. A whole warp calls it. It takes copies: every thread would keep in memory what a reference
// is to.
__device__ __noinline__ void join_back(Borders borders,
                                       Segments segments,
                                       Results results,
                                       Index segment,
                                       Index border,
                                       State end)
{
    const int lane = threadIdx.x % kWarpThreads;
    for (;;) {
        // Tiles that have come, 32 at a time, the nearest in lane 0.
        const Index mine = border - lane;
        const u64 word = mine >= 0 ? borders.words[mine] : 0;
        if (!kFitsWord)
            __threadfence();  // states are read after their words were
        const unsigned missing = __ballot_sync(kFullMask, word == 0);
        const unsigned begun = __ballot_sync(kFullMask, what_came(word) == kBegun);
        const int there = missing != 0 ? __ffs(int(missing)) - 1 : kWarpThreads;
        const int first = begun != 0 ? __ffs(int(begun)) - 1 : kWarpThreads;
        const int taken = min(there, first + 1);
        State run = identity();
        if (lane < taken) {
            run = state_that_came(borders, mine, word);
            borders.words[mine] = 0;
        }
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_down(run, delta);
            if (lane + delta < kWarpThreads)
                run = combine(earlier, run);
        }
        end = combine(shuffle(run, 0), end);
        bool is_over = first < there;
        border -= taken;
        if (!is_over && taken < kWarpThreads) {
            u64 came = 0;
            if (lane == 0)
                came = bring(borders, border, kHead, end);
            __syncwarp();  // what was left at the border may be read
            came = __shfl_sync(kFullMask, came, 0);
            if (came == 0)
                return;
            end = combine(state_that_came(borders, border, came), end);
            is_over = what_came(came) == kBegun;
            --border;
        }
        if (is_over) {
            if (lane == 0) {
                const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
                store(results, segment, length, end);
            }
            return;
        }
    }
}

// Meets the tile that came to `border` first: `came` is its word, or 0. `state` has been brought there from
// before or from behind. A whole warp calls it.
__device__ __forceinline__ void meet(const Borders& borders,
                                     const Segments& segments,
                                     const Results& results,
                                     Index segment,
                                     Index border,
                                     u64 came,
                                     unsigned what,
                                     State state)
{
    if (came == 0 || what_came(came) == kNoHead || what == kNoHead)
        return;
    const State other = state_that_came(borders, border, came);
    const State end = what == kHead ? combine(other, state) : combine(state, other);
    const unsigned before = what == kHead ? what_came(came) : what;
    if (before == kThrough)
        join_back(borders, segments, results, segment, border - 1, end);
    else if (threadIdx.x % kWarpThreads == 0)
        store(results, segment, segment_end(segments, segment) - segment_begin(segments, segment), end);
}
