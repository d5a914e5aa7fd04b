//% stage   run_tiles
//% title   Segments found in flags or keys, a tile a block; numbers by look-back, neighbours meet
//% after   run_stream
//% source  Merrill & Garland 2016 (look-back)
//% layout  keys, flags
//% needs   associative, state_bytes <= 48, !uses_position, !uses_segment
//% let     most_light = element_bytes == 1 ? 5242880 : element_bytes == 2 ? 4194304 : 3670016
//% let     most = state_bytes <= 4 ? most_light : state_bytes <= 12 ? 1310720 : 786432
//% suits   num_elements > 0 && num_elements <= most ? 110 : 5
//% tune    block_threads = 256, 128, 384
//% tune    items_per_thread = 16, 8, 4
//% let     is_tiny = num_elements <= (state_bytes <= 4 ? 393216 : 196608)
//% prefer  block_threads = is_tiny ? 256 : 384
//% let     items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     num_tiles = ceil_div(num_items, (block_threads - 32) * items)
//% scratch ticket : unsigned[1] zero
//% scratch launches : unsigned[1] zero
//% scratch tile_counts : u64[num_tiles] zero
//% scratch border_words : u64[num_tiles] zero
//% if uses_length
//% scratch border_heads : Index[2 * num_tiles]
//% end
//% scratch border_states : State[2 * num_tiles]
//% launch  fold_tiles  grid = num_tiles  block = block_threads
//% use     parts/slice_runs.cuh
//% use     parts/look_back.cuh
//% use     parts/find_heads.cuh

// Border k lies between tiles k and k + 1. Its word says, from the top: 30 bits of the launch's number, so
// that words of earlier launches count as nothing; 2 bits of what came; a state, where one fits. The block
// that comes first leaves its own. The second one has both: it stores the segment that ends behind the
// border, or, where none ends, leaves what came from before for the block that will.
constexpr unsigned kBegun = 0;    // from before: the total behind the tile's last head
constexpr unsigned kThrough = 1;  // from before: the total of a tile without a head, that is not the first
constexpr unsigned kEnd = 2;      // from behind: the total up to the tile's first head or the last item
constexpr unsigned kOn = 3;       // from behind: nothing ends in the tile
//% if uses_length
constexpr bool kFitsWord = false;  // heads do not
//% else
constexpr bool kFitsWord = sizeof(State) <= 4;
//% end

union StateBits {
    State state;
    unsigned low;  // all of a state that fits into a word
};

struct Borders {
    volatile u64* words;
    State* states;  // two for each border
    //% if uses_length
    Index* heads;   // two for each border: where the segment begins, and where it ends
    //% end
};

__device__ __forceinline__ u64 border_word(unsigned launch, unsigned what, unsigned low)
{
    return u64(launch << 2 | what) << 32 | low;
}

__device__ __forceinline__ bool is_of_launch(u64 word, unsigned launch)
{
    return unsigned(word >> 32) >> 2 == (launch & 0x3fffffffu);
}

__device__ __forceinline__ unsigned what_came(u64 word)
{
    return unsigned(word >> 32) & 3u;
}

// What two tiles leave open at their border.
struct Meeting {
    State earlier;
    State later;
    //% if uses_length
    Index begin;  // of the segment, where it begins in the tile before
    Index end;    // of the segment, where it ends in the tile behind
    //% end
    bool is_known;      // both are there
    bool goes_through;  // the tile before has no head
    bool goes_on;       // the tile behind has no end
};

// Brings what a tile leaves open to a border, from before or from behind, and takes what is there. One lane
// calls it.
__device__ __forceinline__ Meeting meet(const Borders& borders, Index border, unsigned launch, unsigned what,
                                        State state, Index head)
{
    const int side = what >= kEnd ? 1 : 0;
    Meeting meeting = {};
    StateBits bits;
    bits.low = 0;
    if (kFitsWord) {
        bits.state = state;
    } else {
        borders.states[2 * border + side] = state;
        //% if uses_length
        borders.heads[2 * border + side] = head;
        //% end
        __threadfence();  // they are seen before the word is
    }
    u64* const word = const_cast<u64*>(borders.words) + border;
    const u64 came = atomicExch(word, border_word(launch, what, bits.low));
    if (!is_of_launch(came, launch))
        return meeting;
    meeting.is_known = true;
    State other = state;
    if (kFitsWord) {
        bits.low = unsigned(came);
        other = bits.state;
    } else {
        __threadfence();  // they are read after the word was
        other = borders.states[2 * border + 1 - side];
    }
    //% if uses_length
    const Index other_head = borders.heads[2 * border + 1 - side];
    meeting.begin = side == 0 ? head : other_head;
    meeting.end = side == 0 ? other_head : head;
    //% end
    meeting.earlier = side == 0 ? state : other;
    meeting.later = side == 0 ? other : state;
    meeting.goes_through = (side == 0 ? what : what_came(came)) == kThrough;
    meeting.goes_on = (side == 0 ? what_came(came) : what) == kOn;
    if (meeting.goes_on && side == 1)
        borders.words[border] = came;
    return meeting;
}

// Words of a lane that are under way at once.
constexpr int kLaneBorders = sizeof(State) <= 8 ? 8 : sizeof(State) <= 16 ? 4 : 2;

// Stores a segment that goes through the whole tile before `border` and ends behind it. The warp looks back
// over the borders of earlier tiles for the one where the segment began: each lane at some neighbouring ones,
// the first lane at the nearest. What is combined with what depends on the number of those tiles alone. Tiles
// are taken in their order, by blocks that are running, so the wait for them ends.
__device__ __noinline__ void close_segment(Borders borders, Results results, Index border, unsigned launch,
                                           Index segment, Meeting meeting)
{
    const int lane = threadIdx.x % kWarpThreads;
    State total = meeting.earlier;  // in the first lane
    bool is_begun = false;
    //% if uses_length
    Index begin = 0;
    //% end
    #pragma unroll 1
    for (Index nearest = border - 1; !is_begun; nearest -= kLaneBorders * kWarpThreads) {
        const Index mine = nearest - lane * kLaneBorders;  // and the ones before it
        u64 words[kLaneBorders];
        int num_through;  // of the lane's tiles, before the one that has a head
        unsigned begun;   // the lanes that have such a one
        unsigned needed;  // the lanes up to the first of them, all where there is none
        unsigned there;   // the lanes whose words are there, as far as they are needed
        do {
            #pragma unroll
            for (int k = 0; k < kLaneBorders; ++k)
                words[k] = mine >= k ? borders.words[mine - k] : border_word(launch, kBegun, 0);
            num_through = 0;
            bool is_there = true;
            #pragma unroll
            for (int k = 0; k < kLaneBorders; ++k)
                if (num_through == k) {
                    const unsigned what = what_came(words[k]);
                    is_there = is_there && is_of_launch(words[k], launch) && what <= kThrough;
                    num_through += what == kThrough ? 1 : 0;
                }
            there = __ballot_sync(kFullMask, is_there);
            begun = __ballot_sync(kFullMask, is_there && num_through < kLaneBorders);
            needed = begun ^ (begun - 1u);
        } while ((needed & ~there) != 0);
        if (!kFitsWord)
            __threadfence();  // states are read after their words were
        const int last = kWarpThreads - 1 - __clz(int(needed));  // the lane with the earliest that counts
        State run = identity();
        #pragma unroll
        for (int k = 0; k < kLaneBorders; ++k)
            if (lane <= last && k <= num_through && mine >= k) {
                StateBits bits;
                bits.low = unsigned(words[k]);
                if (!kFitsWord)
                    bits.state = borders.states[2 * (mine - k)];
                run = k == 0 ? bits.state : combine(bits.state, run);
            }
        #pragma unroll 1
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const State earlier = shuffle_down(run, delta);
            if (lane + delta <= last)
                run = combine(earlier, run);
        }
        total = combine(run, total);
        is_begun = begun != 0;
        //% if uses_length
        if (is_begun) {
            const Index own = lane == last ? borders.heads[2 * (mine - num_through)] : 0;
            begin = __shfl_sync(kFullMask, own, last);
        }
        //% end
    }
    if (lane == 0)
        //% if uses_length
        store(results, segment, meeting.end - begin, combine(total, meeting.later));
        //% else
        store(results, segment, 1, combine(total, meeting.later));
        //% end
}

// A block takes a tile, each of its warps but the last a slice of it. They find the heads and fold, while the
// last warp finds out how many segments begin before the tile. Then they store what ends inside the tile, and
// the last warp brings what is open to the tile's borders. Where that ends a segment that goes through whole
// tiles, it looks back for the rest.
//
// Blocks take tiles by tickets, in order, so that all earlier tiles are done or under way. Nearly always a
// block gets the tile of its own number: it has read that one when the ticket is there.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1024 / kMostBlockThreads)
fold_tiles(Inputs inputs,
           Segments segments,
           Results results,
           //% number block_threads
           unsigned* ticket,
           volatile unsigned* launches,
           volatile u64* tile_counts,
           volatile u64* border_words,
           //% if uses_length
           Index* border_heads,
           //% end
           State* border_states)
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
    const int num_warps = block_threads / kWarpThreads - 1;  // that fold
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
        if (Index(blockIdx.x) >= lane && lane < 2)
            (void)border_words[Index(blockIdx.x) - lane];
    }
    State items[kItems];
    unsigned heads = 0;  // a bit for each of the lane's items
    int up_to_here = 0;  // heads in the slice, up to the lane's
    Index tile = Index(blockIdx.x);
    Index begin = 0;
    #pragma unroll 1
    for (;;) {
        begin = (tile * num_warps + warp) * kSliceItems;
        if (is_folding) {
            read_slice(items, inputs, segments, begin);
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
        stage_slice(staged, items);
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
    //% if uses_length
    const Borders borders = {border_words, border_states, border_heads};
    const Index last_head = partial.last_head;
    const Index first_head = partial.ends ? partial.first_head : segments.num_items;
    //% else
    const Borders borders = {border_words, border_states};
    constexpr Index last_head = 0;
    constexpr Index first_head = 1;  // nobody asks for more than that lengths are not 0
    //% end
    const Index last_segment = first + num_heads - 1;
    const bool is_last = tile == num_tiles - 1;
    const bool is_through = !partial.ends && !is_last;
    // Two lanes wait for memory side by side.
    Meeting meeting = {};
    const bool is_before = lane == 0;  // the tile lies before the lane's border
    const Index border = is_before ? tile : tile - 1;
    const Index segment = is_before ? last_segment : first - 1;
    if (lane < 2 && border >= 0 && border < num_tiles - 1) {
        const unsigned what = is_before ? (is_through ? kThrough : kBegun) : is_through ? kOn : kEnd;
        const State open = is_before || !partial.ends ? partial.tail : partial.head;
        meeting = meet(borders, border, launch, what, open, is_before ? last_head : first_head);
    }
    const bool is_end = meeting.is_known && !meeting.goes_on;
    if (is_end && !meeting.goes_through)
        //% if uses_length
        store(results, segment, meeting.end - meeting.begin, combine(meeting.earlier, meeting.later));
        //% else
        store(results, segment, 1, combine(meeting.earlier, meeting.later));
        //% end
    if (lane == 3 && is_last) {
        if (partial.ends)
            store(results, last_segment, segments.num_items - last_head, partial.tail);
        *segments.num_found = last_segment + 1;
        launches[0] = launch;  // all others have read it: their counts are in this tile's
    }
    // At most one border of a tile ends a segment that goes through: the one behind a tile without a head, or
    // the one before a tile with one.
    const unsigned closing = __ballot_sync(kFullMask, is_end && meeting.goes_through);
    if (closing == 0)
        return;
    const int closer = __ffs(int(closing)) - 1;
    meeting.earlier = shuffle(meeting.earlier, closer);
    meeting.later = shuffle(meeting.later, closer);
    //% if uses_length
    meeting.end = __shfl_sync(kFullMask, meeting.end, closer);
    //% end
    close_segment(borders, results, __shfl_sync(kFullMask, border, closer), launch,
                  __shfl_sync(kFullMask, segment, closer), meeting);
}
