//% use parts/segments/segments.cuh
//% use parts/reduce/state_pieces.cuh
// Border k lies between tiles k and k + 1. Its word says, from the top: 30 bits of the launch's number, so
// that words of earlier launches count as nothing; 2 bits of what came; 32 bits of that. Tile k brings what
// it leaves open, and where a segment ends in tile k + 1, one of both stores it. Where segments are short,
// the two meet at the border: the first leaves its own there, and the second stores the segment, so neither
// waits. Where they are long, tile k + 1 reads the words of tiles before it until it has the segment's begin.
// Both know how many segments begin before the border, and that decides.
constexpr unsigned kBegun = 0;    // from before: the total behind the tile's last head
constexpr unsigned kThrough = 1;  // from before: the total of a tile without a head, that is not the first
constexpr unsigned kEnd = 2;      // from behind: the total up to the tile's first head or the last item

// What a tile leaves open at a border travels in pieces of 32 bits: the state, and where its segment begins
// or ends if lengths matter. The border's word has the first piece; the others have words of their own, for
// each side. All of them name the launch, so whoever reads them sees what is there, and needs no fence.
//% if uses_length
constexpr int kPieces = kStatePieces + int(sizeof(Index)) / 4;
//% else
constexpr int kPieces = kStatePieces;
//% end
constexpr int kRest = kPieces - 1;

struct Borders {
    volatile u64* words;
    volatile u64* rest;  // 2 * kRest for each border: those from before, those from behind
};

// What came to a border from one side.
struct Open {
    State state;
    Index head;  // where its segment begins in the tile before, or ends in the tile behind
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

// How long a segment is that begins at one head and ends at another.
__device__ __forceinline__ Index length_between(Index begin, Index end)
{
    //% if uses_length
    return end - begin;
    //% else
    return 1;  // nobody asks for more than that it is not 0
    //% end
}

// What two tiles leave open at their border.
struct Meeting {
    Open earlier;
    Open later;
    bool is_known;      // both are there
    bool goes_through;  // the tile before has no head
};

// Whether segments are long before the border behind `tile`: at most one begins in each tile.
__device__ __forceinline__ bool is_long(Index num_segments, Index tile)
{
    return num_segments <= tile + 1;
}

// Brings a total to a border, from before or from behind. One lane calls it. Where tiles meet there, it takes
// what the other has brought.
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
            came[k] = other_rest[k - 1];  // on its way while the words are exchanged
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

// How many borders a lane looks at in one round at most.
constexpr int kLaneBorders = sizeof(State) <= 8 ? 8 : sizeof(State) <= 16 ? 4 : 2;

// Stores a segment that began before the tile behind border `nearest` and ends behind that border; `total` is
// known of it. The warp looks back over borders for the one where it began: each lane at `lane_borders`
// neighbouring ones, the first lane at the nearest; at kLaneBorders in later rounds. What is combined with
// what depends on the numbers of tiles and segments alone. Tiles are taken in their order, by blocks that are
// running, so the wait for them ends.
__device__ __noinline__ void close_segment(Borders borders, Results results, Index nearest, int lane_borders,
                                           unsigned launch, Index segment, State total, Index end)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (;;) {
        const Index mine = nearest - lane * lane_borders;  // and the ones before it
        u64 words[kLaneBorders][kPieces];
        int num_through;  // of the lane's tiles, before the one that has a head
        unsigned begun;   // the lanes that have such a one
        unsigned needed;  // the lanes up to the first of them, all where there is none
        unsigned there;   // the lanes whose words are there, as far as they are needed
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
        const int last = kWarpThreads - 1 - __clz(int(needed));  // the lane with the earliest that counts
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
        total = combine(run, total);  // in the first lane
        if (begun != 0) {
            //% if uses_length
            const Index begin = __shfl_sync(kFullMask, head, last);
            //% else
            constexpr Index begin = 0;  // nobody asks where segments begin
            //% end
            if (lane == 0)
                store(results, segment, length_between(begin, end), total);
            return;
        }
        nearest -= lane_borders * kWarpThreads;
        lane_borders = kLaneBorders;
    }
}
