//% use parts/segments/segments.cuh
//% use parts/reduce/state_pieces.cuh
// Border k lies between tiles k and k + 1. Its word holds, from the top: 30 bits of the launch's number, so
// that words of earlier launches are ignored; 2 bits for the kind of state; 32 bits of the state. Tile k
// brings the state that it leaves open. If a segment ends in tile k + 1, one of both tiles stores it. If
// segments are short, both meet at the border: the first leaves its state there, and the second stores the
// segment, so neither waits. If segments are long, tile k + 1 reads the words of earlier tiles until it has
// the segment's begin. Both tiles know how many segments begin before the border, and this number decides
// whether segments are short.
constexpr unsigned kBegun = 0;    // of an earlier tile: total behind its last head
constexpr unsigned kThrough = 1;  // of an earlier tile without a head: total of all its items
constexpr unsigned kEnd = 2;      // of a later tile: total up to its first head, or up to the last item

// The state that a tile leaves open at a border travels in pieces of 32 bits, with the place where its
// segment begins or ends if lengths matter. The border's word has the first piece; the other pieces have
// their own words, for each side. All words name the launch, so a reader knows which pieces have come, and
// needs no fence.
//% if uses_length
constexpr int kPieces = kStatePieces + int(sizeof(Index)) / 4;
//% else
constexpr int kPieces = kStatePieces;
//% end
constexpr int kRest = kPieces - 1;

struct Borders {
    volatile u64* words;
    volatile u64* rest;  // 2 * kRest for each border: pieces of the earlier tile, then of the later one
};

// The state that came to a border from one side.
struct Open {
    State state;
    Index head;  // where its segment begins in the earlier tile, or ends in the later one
};

__device__ __forceinline__ u64 border_word(unsigned launch, unsigned what, unsigned piece)
{
    return u64(launch << 2 | what) << 32 | piece;
}

__device__ __forceinline__ bool is_of_launch(u64 word, unsigned launch)
{
    return unsigned(word >> 32) >> 2 == (launch & 0x3fffffffu);
}

__device__ __forceinline__ unsigned what_came(u64 word)
{
    return unsigned(word >> 32) & 3u;
}

__device__ __forceinline__ void cut_up(unsigned (&pieces)[kPieces], const Open& open)
{
    const StatePieces state = pieces_of(open.state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        pieces[k] = state.at[k];
    #pragma unroll
    for (int k = kStatePieces; k < kPieces; ++k)
        pieces[k] = unsigned(u64(open.head) >> 32 * (k - kStatePieces));
}

__device__ __forceinline__ Open put_together(const u64 (&words)[kPieces])
{
    StatePieces state;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        state.at[k] = unsigned(words[k]);
    u64 head = 0;
    #pragma unroll
    for (int k = kStatePieces; k < kPieces; ++k)
        head |= u64(unsigned(words[k])) << 32 * (k - kStatePieces);
    return {state.state, Index(head)};
}

// Returns the length of a segment that begins at one head and ends at another.
__device__ __forceinline__ Index length_between(Index begin, Index end)
{
    //% if uses_length
    return end - begin;
    //% else
    return 1;  // store() only tests that a length is not 0
    //% end
}

// The states that two tiles leave open at their border.
struct Meeting {
    Open earlier;
    Open later;
    bool is_known;      // true if both have come
    bool goes_through;  // true if the earlier tile has no head
};

// True if segments before the border behind `tile` are long: on average, at most one begins in each tile.
__device__ __forceinline__ bool is_long(Index num_segments, Index tile)
{
    return num_segments <= tile + 1;
}

// Brings a total of the earlier or the later tile to a border. One lane calls it. If tiles meet there and the
// other tile has come, returns both totals.
__device__ __forceinline__ Meeting bring(const Borders& borders, Index border, unsigned launch, unsigned what,
                                         const Open& open, bool meets)
{
    const int side = what == kEnd ? 1 : 0;
    volatile u64* const own_rest = borders.rest + (2 * border + side) * kRest;
    volatile u64* const other_rest = borders.rest + (2 * border + 1 - side) * kRest;
    unsigned pieces[kPieces];
    cut_up(pieces, open);
    u64 came[kPieces];
    #pragma unroll
    for (int k = 1; k < kPieces; ++k)
        if (meets)
            came[k] = other_rest[k - 1];  // under way while the words are exchanged
    #pragma unroll
    for (int k = 1; k < kPieces; ++k)
        own_rest[k - 1] = border_word(launch, what, pieces[k]);
    const u64 own = border_word(launch, what, pieces[0]);
    Meeting meeting = {};
    if (!meets) {
        borders.words[border] = own;
        return meeting;
    }
    came[0] = atomicExch(const_cast<u64*>(borders.words) + border, own);
    if (!is_of_launch(came[0], launch))
        return meeting;
    #pragma unroll
    for (int k = 1; k < kPieces; ++k)
        while (!is_of_launch(came[k], launch))
            came[k] = other_rest[k - 1];
    const Open other = put_together(came);
    meeting.is_known = true;
    meeting.earlier = side == 0 ? open : other;
    meeting.later = side == 0 ? other : open;
    meeting.goes_through = (side == 0 ? what : what_came(came[0])) == kThrough;
    return meeting;
}

// The most borders that a lane reads in one round.
constexpr int kLaneBorders = sizeof(State) <= 8 ? 8 : sizeof(State) <= 16 ? 4 : 2;

// Stores a segment that began before the tile behind border `nearest` and ends behind that border. `total` is
// the part behind the border. The warp looks back over borders for the segment's begin: each lane reads
// `lane_borders` neighbouring borders, lane 0 the nearest, and kLaneBorders in later rounds. The order of
// combination depends only on the numbers of tiles and segments. Tiles must be taken in their order by
// running blocks, so that the wait for them ends.
__device__ __noinline__ void close_segment(Borders borders, Results results, Index nearest, int lane_borders,
                                           unsigned launch, Index segment, State total, Index end)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (;;) {
        const Index mine = nearest - lane * lane_borders;  // the nearest of the lane's borders
        u64 words[kLaneBorders][kPieces];
        int num_through;  // the lane's tiles before the first one with a head
        unsigned begun;   // lanes that have a tile with a head
        unsigned needed;  // lanes up to the first of these; all if there is none
        unsigned there;   // lanes whose needed words have come
        do {
            #pragma unroll
            for (int k = 0; k < kLaneBorders; ++k)
                #pragma unroll
                for (int piece = kRest; piece >= 0; --piece) {
                    const Index other = mine - k;
                    words[k][piece] = border_word(launch, kBegun, 0);
                    if (other >= 0 && k < lane_borders)
                        words[k][piece] =
                            piece == 0 ? borders.words[other] : borders.rest[2 * other * kRest + piece - 1];
                }
            num_through = 0;
            bool is_there = true;
            #pragma unroll
            for (int k = 0; k < kLaneBorders; ++k)
                if (num_through == k && k < lane_borders) {
                    const unsigned what = what_came(words[k][0]);
                    is_there = is_there && what <= kThrough;
                    #pragma unroll
                    for (int piece = 0; piece < kPieces; ++piece)
                        is_there = is_there && is_of_launch(words[k][piece], launch);
                    num_through += what == kThrough ? 1 : 0;
                }
            there = __ballot_sync(kFullMask, is_there);
            begun = __ballot_sync(kFullMask, is_there && num_through < lane_borders);
            needed = begun ^ (begun - 1u);
        } while ((needed & ~there) != 0);
        const int last = kWarpThreads - 1 - __clz(int(needed));  // the last lane that is needed
        State run = identity();
        //% if uses_length
        Index head = 0;
        //% end
        #pragma unroll
        for (int k = 0; k < kLaneBorders; ++k)
            if (lane <= last && k <= num_through && k < lane_borders && mine >= k) {
                const Open open = put_together(words[k]);
                run = k == 0 ? open.state : combine(open.state, run);
                //% if uses_length
                head = open.head;
                //% end
            }
        #pragma unroll 1
        for (int delta = 1; delta <= last; delta *= 2) {
            const State earlier_run = shuffle_down(run, delta);
            if (lane + delta <= last)
                run = combine(earlier_run, run);
        }
        total = combine(run, total);  // right only in lane 0
        if (begun != 0) {
            //% if uses_length
            const Index begin = __shfl_sync(kFullMask, head, last);
            //% else
            constexpr Index begin = 0;  // not used, because lengths do not matter
            //% end
            if (lane == 0)
                store(results, segment, length_between(begin, end), total);
            return;
        }
        nearest -= lane_borders * kWarpThreads;
        lane_borders = kLaneBorders;
    }
}
