//% stage   run_tiles
//% title   Segments found in flags or keys, a tile a block; numbers and long segments by look-back
//% after   run_stream
//% source  Merrill & Garland 2016 (look-back)
//% layout  keys, flags
//% needs   associative, state_bytes <= 48, !uses_position, !uses_segment
//% let     most_narrow = flags ? 6291456 : element_bytes == 1 ? 6029312 : 4718592
//% let     most_light = element_bytes <= 2 ? most_narrow : 3670016
//% let     most_pairs = element_bytes >= 8 ? (flags ? 2621440 : 2162688) : flags ? 6291456 : 5242880
//% let     most_sixteens = flags ? 3145728 : element_bytes <= 4 && mean_length >= 16 ? 3538944 : 4980736
//% let     most_twelves = mean_length >= 16 ? 4718592 : 6291456
//% let     most_widest = mean_length >= 8 ? 2621440 : 4718592
//% let     most_rich = state_bytes > 16 ? most_widest : state_bytes > 12 ? most_sixteens : most_twelves
//% let     most_wide = state_bytes <= 24 ? most_rich : keys ? 1310720 : 1048576
//% let     most = state_bytes <= 4 ? most_light : state_bytes <= 8 ? most_pairs : most_wide
//% suits   num_elements > 0 && num_elements <= most ? 110 : 5
//% tune    block_threads = 256, 128, 288, 384, 448, 512
//% tune    items_per_thread = 16, 8, 4, 24, 32
//% let     resident_threads = cc == 75 ? 1024 : 1152
//% let     lane_items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     place_bytes = (keys ? 2 : 0) + (uses_length ? 2 : 0)
//% let     block_items = (block_threads - 32) * lane_items
//% let     room_bytes = ceil_div((state_bytes == 4 ? 16 : 17) * state_bytes * block_items, 16)
//% let     staged_bytes = room_bytes + place_bytes * block_items
//% where   lane_items <= 16 && staged_bytes + block_threads * (2 + state_bytes / 8) <= 48640
//% let     is_little = state_bytes > 4 && num_elements <= (state_bytes <= 12 ? 196608 : 0)
//% let     is_odd = state_bytes > 4 && state_bytes < 8 || state_bytes >= 40
//% let     wide_items = state_bytes == 12 ? 24 : is_odd || is_little ? 16 : 32
//% prefer  items_per_thread = state_bytes <= 4 ? 16 : wide_items
//% let     per_warp = 132 * 512
//% let     per_block = ceil_div(num_elements, per_warp)
//% let     per_half = ceil_div(num_elements, 2 * per_warp)
//% let     two_waves = per_half <= 11 ? 11 : per_half <= 13 ? 13 : per_half <= 15 ? 15 : 11
//% let     one_wave = per_block <= 7 ? 7 : per_block <= 11 ? 11 : per_block <= 13 ? 13 : 15
//% let     light_warps = per_block <= 15 ? one_wave : two_waves
//% let     wave_blocks = copies_items ? 4 : 3
//% let     is_second_wave = keys && state_bytes == 8 && num_elements > wave_blocks * 132 * 4096
//% let     wide_warps = is_little || is_second_wave ? 7 : state_bytes == 12 ? 11 : 8
//% let     most_warps = keys && uses_length ? (state_bytes <= 4 ? 11 : 7) : 15
//% prefer  block_threads = 32 + 32 * min(most_warps, state_bytes <= 4 ? light_warps : wide_warps)
//% let     items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     num_tiles = ceil_div(num_items, (block_threads - 32) * items)
//% scratch ticket : unsigned[1] zero
//% scratch launches : unsigned[1] zero
//% scratch tile_counts : u64[num_tiles] zero
//% scratch border_words : u64[num_tiles] zero
//% if uses_length
//% let     rest_pieces = ceil_div(state_bytes, 4) + 1
//% else
//% let     rest_pieces = max(1, ceil_div(state_bytes, 4) - 1)
//% end
//% scratch border_rest : u64[2 * num_tiles * rest_pieces] zero
//% launch  fold_tiles  grid = num_tiles  block = block_threads
//% if copies_items
//% use     parts/tiles/copy_slice.cuh
//% else
//% use     parts/tiles/read_slice.cuh
//% end
//% use     parts/tiles/look_back.cuh
//% use     parts/segments/find_heads.cuh
//% use     parts/reduce/state_pieces.cuh

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

// Where a lane reads much at once, 1024 threads reside, with 64 registers each; else 1152 with 56, which are
// four blocks of 288 or three of 384.
//% if copies_items
constexpr int kItemBytes = 0;  // no register holds them meanwhile
//% else
constexpr int kItemBytes = int(sizeof(State));
//% end
//% if keys
constexpr int kReadBytes = kItems * (kItemBytes + int(sizeof(Key)));
//% else
constexpr int kReadBytes = kItems * (kItemBytes + 1);
//% end
constexpr int kMostResident = kReadBytes > 160 ? 1024 : kResidentThreads;

// A block takes a tile, each of its warps but the last a slice of it. They find the heads and fold, while the
// last warp finds out how many segments begin before the tile. Then they store what ends inside the tile, and
// the last warp brings what is open to the tile's borders. Where that ends a segment that goes through whole
// tiles, it looks back for the rest.
//
// Blocks take tiles by tickets, in order, so that all earlier tiles are done or under way. Nearly always a
// block gets the tile of its own number: it has read that one when the ticket is there.
extern "C" __global__ void __launch_bounds__(kBlockThreads, kMostResident / kBlockThreads)
fold_tiles(Inputs inputs,
           Segments segments,
           Results results,
           unsigned* ticket,
           volatile unsigned* launches,
           volatile u64* tile_counts,
           volatile u64* border_words,
           volatile u64* border_rest)
{
    alignas(16) __shared__ State staged_items[kMostWarps * kSliceRoom];
    __shared__ unsigned short exchanges[kMostWarps * kExchanged];
    //% if uses_length
    __shared__ unsigned short head_places[kMostWarps * kSliceItems];  // in the slice, by their rank in it
    //% end
    __shared__ int counts[kMostWarps];    // heads in each slice
    __shared__ Index firsts[kMostWarps];  // heads in the input before each slice
    __shared__ Shares shares;
    __shared__ Index own_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = kBlockThreads / kWarpThreads - 1;  // that fold
    const Index num_tiles = Index(gridDim.x);
    const bool is_folding = warp < num_warps;
    State* const staged = staged_items + (is_folding ? warp : 0) * kSliceRoom;
    //% if uses_length
    unsigned short* const places = head_places + (is_folding ? warp : 0) * kSliceItems;
    //% else
    unsigned short* const places = nullptr;
    //% end

    unsigned launch = 0;  // the last warp's
    if (!is_folding) {
        if (lane == 0)
            own_tile = Index(atomicInc(ticket, gridDim.x - 1u));  // wraps to 0 for the next launch
        launch = launches[0] + 1u;
        // Words of borders are on their way to the cache meanwhile.
        if (Index(blockIdx.x) >= lane) {
            const Index border = Index(blockIdx.x) - lane;
            (void)border_words[border];
            if (kRest > 0)
                (void)border_rest[2 * border * kRest];
        }
    }
    //% if !copies_items
    State items[kItems];
    //% end
    unsigned heads = 0;  // a bit for each of the lane's items
    int up_to_here = 0;  // heads in the slice, up to the lane's
    Index tile = Index(blockIdx.x);
    Index begin = 0;
    #pragma unroll 1
    for (;;) {
        begin = (tile * num_warps + warp) * kSliceItems;
        if (is_folding) {
            //% if copies_items
            wait_for_items();  // of another tile's
            copy_slice(staged, inputs, segments, begin);
            //% else
            read_slice(items, inputs, segments, begin);
            //% end
            heads = find_heads(exchanges + warp * kExchanged, segments, begin);
            up_to_here = warp_scan_counts(__popc(heads));
            if (lane == kWarpThreads - 1)
                counts[warp] = up_to_here;
        }
        __syncthreads();  // the ticket is there, and all slices have their counts
        if (own_tile == tile)
            break;
        tile = own_tile;
    }

    Index first = 0;    // heads before the tile, for the last warp
    int num_heads = 0;  // in the slice; for the last warp in the tile
    if (is_folding) {
        num_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
        //% if copies_items
        wait_for_items();  // the lane's are there
        //% else
        stage_slice(staged, items);
        //% end
        __syncwarp();  // all items are staged
        const State carry = fold_slice(staged, places, heads, up_to_here - __popc(heads), identity());
        __syncwarp();  // all totals are complete
        if (lane == 0) {
            shares.runs[warp] = {carry, num_heads > 0};
            //% if uses_length
            shares.last_heads[warp] = num_heads > 0 ? begin + places[num_heads - 1] : 0;
            //% end
            if (num_heads > 0)
                keep_first_end(shares, staged, places, begin);
        }
    } else {
        const int count = lane < num_warps ? counts[lane] : 0;
        up_to_here = warp_scan_counts(count);
        num_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kTileCount), num_heads);
        first = look_back(tile_counts, tile, launch);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kPrefixCount), first + num_heads);
        if (lane < num_warps)
            firsts[lane] = first + up_to_here - count;
    }
    __syncthreads();  // what the slices leave open is there, and where their segments begin

    if (is_folding) {
        store_slice(results, staged, places, 1, num_heads, firsts[warp], begin, 0);
        if (lane == 0 && num_heads > 0)
            store_first_end(results, shares, firsts[warp]);
        //% if keys
        const int rank = up_to_here - __popc(heads);
        store_slice_keys(exchanges + warp * kExchanged, segments, heads, rank, num_heads, begin,
                         firsts[warp]);
        //% end
        return;
    }

    const Partial partial = join_shares(shares, num_warps);
    const Borders borders = {border_words, border_rest};
    //% if uses_length
    const Index last_head = partial.last_head;
    const Index first_head = partial.ends ? partial.first_head : segments.num_items;
    //% else
    constexpr Index last_head = 0;  // nobody asks where segments begin
    constexpr Index first_head = 0;
    //% end
    const Index last_segment = first + num_heads - 1;
    const bool is_last = tile == num_tiles - 1;
    const bool is_through = !partial.ends && !is_last;
    const bool looks_back = !is_through && tile > 0 && is_long(first, tile - 1);
    // Two lanes wait for memory side by side.
    Meeting meeting = {};
    const bool is_before = lane == 0;  // the tile lies before the lane's border
    const bool has_end = lane == 1 && !is_through && !looks_back;
    const Index border = is_before ? tile : tile - 1;
    const Index segment = is_before ? last_segment : first - 1;
    if ((is_before || has_end) && border >= 0 && border < num_tiles - 1) {
        const unsigned what = is_through ? kThrough : is_before ? kBegun : kEnd;
        const State open = is_before ? partial.tail : partial.head;
        meeting = bring(borders, border, launch, what, {open, is_before ? last_head : first_head},
                        !is_long(segment + 1, border));
    }
    State total = partial.head;
    if (meeting.is_known)
        total = combine(meeting.earlier.state, meeting.later.state);
    if (meeting.is_known && !meeting.goes_through)
        store(results, segment, length_between(meeting.earlier.head, meeting.later.head), total);
    if (lane == 3 && is_last) {
        if (partial.ends)
            store(results, last_segment, length_between(last_head, segments.num_items), partial.tail);
        *segments.num_found = last_segment + 1;
        launches[0] = launch;  // all others have read it: their counts are in this tile's
    }
    // At most one border of a tile ends a segment that goes through: the one behind a tile without a head, or
    // the one before a tile with one.
    const unsigned closing = __ballot_sync(kFullMask, meeting.is_known && meeting.goes_through);
    if (closing == 0 && !looks_back)
        return;
    const int closer = looks_back ? 1 : __ffs(int(closing)) - 1;
    const Index nearest = looks_back ? tile - 1 : __shfl_sync(kFullMask, border, closer) - 1;
    const int lane_borders = looks_back && first * kWarpThreads <= tile ? kLaneBorders : 1;
    //% if uses_length
    const Index end = looks_back ? first_head : __shfl_sync(kFullMask, meeting.later.head, closer);
    //% else
    constexpr Index end = 0;
    //% end
    close_segment(borders, results, nearest, lane_borders, launch, __shfl_sync(kFullMask, segment, closer),
                  shuffle(total, closer), end);
}
