//% stage   run_tiles
//% title   Segments found in flags or keys, a tile a block; numbers by look-back, neighbours meet
//% after   run_stream
//% source  Merrill & Garland 2016 (look-back)
//% layout  keys, flags
//% needs   associative, state_bytes <= 48, !uses_position, !uses_segment
//% let     most_light = element_bytes == 1 ? 6291456 : 4194304
//% let     most = state_bytes <= 4 ? most_light : state_bytes <= 8 ? 2097152 : 1048576
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
//% scratch border_states : State[2 * num_tiles]
//% scratch border_segments : Index[num_tiles]
//% if uses_length
//% scratch border_heads : Index[2 * num_tiles]
//% end
//% scratch arrivals : u64[1] zero
//% launch  fold_tiles  grid = num_tiles  block = block_threads
//% use     parts/slice_runs.cuh
//% use     parts/look_back.cuh
//% use     parts/find_heads.cuh

// Border k lies between tiles k and k + 1. Its word says, from the top: 29 bits of the launch's number, so
// that words of earlier launches count as nothing; 3 bits of what came; a state, where one fits. The block
// that comes first leaves one of the first four, with its state. The second one has both. It joins them, or
// leaves both, and says which.
constexpr unsigned kBegun = 0;    // from before: the total behind the tile's last head
constexpr unsigned kThrough = 1;  // from before: the total of a tile without a head, that is not the first
constexpr unsigned kEnd = 2;      // from behind: the total up to the tile's first head or the last item
constexpr unsigned kOn = 3;       // from behind: nothing ends in the tile
constexpr unsigned kBoth = 4;     // and 1 if a tile was through, and 2 if nothing ended
constexpr unsigned kJoined = kBoth;      // nothing else was left at the border
constexpr unsigned kClosed = kBoth | 1;  // a segment ends behind it that began before the tile in front
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
    State* states;    // two for each border
    Index* segments;  // that the border cuts
    //% if uses_length
    Index* heads;  // two for each border: where the segment begins, and where it ends
    //% end
};

__device__ __forceinline__ u64 border_word(unsigned launch, unsigned what, unsigned low)
{
    return u64(launch << 3 | what) << 32 | low;
}

__device__ __forceinline__ bool is_of_launch(u64 word, unsigned launch)
{
    return unsigned(word >> 32) >> 3 == (launch & 0x1fffffffu);
}

__device__ __forceinline__ unsigned what_came(u64 word)
{
    return unsigned(word >> 32) & 7u;
}

__device__ __forceinline__ Index border_length(const Borders& borders, Index border)
{
    //% if uses_length
    return borders.heads[2 * border + 1] - borders.heads[2 * border];
    //% else
    return 1;  // nobody asks for more than that it is not 0
    //% end
}

// Brings what a tile leaves open to a border, from before or from behind. One lane calls it.
__device__ __forceinline__ void meet(const Borders& borders, const Results& results, Index border,
                                     unsigned launch, unsigned what, State state, Index segment, Index head)
{
    const int side = what >= kEnd ? 1 : 0;
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
        return;
    State other = state;
    if (kFitsWord) {
        bits.low = unsigned(came);
        other = bits.state;
    } else {
        __threadfence();  // they are read after the word was
        other = borders.states[2 * border + 1 - side];
    }
    const unsigned before = side == 0 ? what : what_came(came);
    const unsigned behind = side == 0 ? what_came(came) : what;
    const unsigned both = kBoth + (before == kThrough ? 1 : 0) + (behind == kOn ? 2 : 0);
    const State earlier = side == 0 ? state : other;
    const State later = side == 0 ? other : state;
    if (both == kJoined) {
        store(results, segment, border_length(borders, border), combine(earlier, later));
    } else {
        borders.states[2 * border] = earlier;
        borders.states[2 * border + 1] = later;
        borders.segments[border] = segment;
        __threadfence();  // they are seen before the word is
    }
    bits.state = earlier;
    borders.words[border] = border_word(launch, both, kFitsWord ? bits.low : 0);
}

// Stores the segments that go through whole tiles: a lane takes every 32nd border. What is combined with what
// depends on the number of tiles alone. The warp that comes last calls it.
__device__ __noinline__ void join_through(Borders borders, Results results, Index num_borders,
                                          unsigned launch)
{
    const int lane = threadIdx.x % kWarpThreads;
    State open = identity();  // before the first of the borders
    //% if uses_length
    Index begin = 0;  // of the segment that is open there
    //% end
    u64 next = lane < num_borders ? borders.words[lane] : 0;
    #pragma unroll 1
    for (Index border = lane; border - lane < num_borders; border += kWarpThreads) {
        u64 word = next;
        next = border + kWarpThreads < num_borders ? borders.words[border + kWarpThreads] : 0;
        while (border < num_borders && (!is_of_launch(word, launch) || what_came(word) < kBoth))
            word = borders.words[border];
        const unsigned what = border < num_borders ? what_came(word) : kJoined;
        if (!kFitsWord || what == kClosed)
            __threadfence();  // states are read after their words were
        __syncwarp();         // all lanes' words are there
        State total = identity();
        if (kFitsWord && what != kJoined) {
            StateBits bits;
            bits.low = unsigned(word);
            total = bits.state;
        } else if (what != kJoined) {
            total = borders.states[2 * border];
        }
        const bool goes_on = (what & 1u) != 0;
        if (lane == 0 && goes_on)
            total = combine(open, total);
        const unsigned begun = __ballot_sync(kFullMask, !goes_on);
        total = warp_scan_tails(total, begun);
        //% if uses_length
        const unsigned earlier = begun & (kFullMask >> (kWarpThreads - 1 - lane));
        const Index own = !goes_on && what != kJoined ? borders.heads[2 * border] : 0;
        const int opener = earlier == 0 ? 0 : kWarpThreads - 1 - __clz(int(earlier));
        const Index found = __shfl_sync(kFullMask, own, opener);
        const Index from = earlier == 0 ? begin : found;
        if (what == kClosed)
            store(results, borders.segments[border], borders.heads[2 * border + 1] - from,
                  combine(total, borders.states[2 * border + 1]));
        begin = __shfl_sync(kFullMask, from, kWarpThreads - 1);
        //% else
        if (what == kClosed)
            store(results, borders.segments[border], 1, combine(total, borders.states[2 * border + 1]));
        //% end
        open = shuffle(total, kWarpThreads - 1);
    }
}

// A block takes a tile, each of its warps but the last a slice of it. They find the heads and fold, while the
// last warp finds out how many segments begin before the tile. Then they store what ends inside the tile, and
// the last warp brings what is open to the tile's borders.
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
           State* border_states,
           Index* border_segments,
           //% if uses_length
           Index* border_heads,
           //% end
           u64* arrivals)
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
    const Borders borders = {border_words, border_states, border_segments, border_heads};
    const Index last_head = partial.last_head;
    const Index first_head = partial.ends ? partial.first_head : segments.num_items;
    //% else
    const Borders borders = {border_words, border_states, border_segments};
    constexpr Index last_head = 0;
    constexpr Index first_head = 1;  // nobody asks for more than that lengths are not 0
    //% end
    const Index last_segment = first + num_heads - 1;
    const bool is_last = tile == num_tiles - 1;
    const bool is_through = !partial.ends && !is_last;
    // Three lanes wait for memory side by side. The lower half of the sum counts tiles, the upper one those
    // without a head.
    const u64 own = u64(is_through ? 1 : 0) << 32;
    u64 came = 0;
    if (lane == 2)
        came = own + atomicAdd(arrivals, own | 1u);
    const bool is_before = lane == 0;  // the tile lies before the lane's border
    const Index border = is_before ? tile : tile - 1;
    if (lane < 2 && border >= 0 && border < num_tiles - 1) {
        const unsigned what = is_before ? (is_through ? kThrough : kBegun) : is_through ? kOn : kEnd;
        meet(borders, results, border, launch, what,
             is_before || !partial.ends ? partial.tail : partial.head, is_before ? last_segment : first - 1,
             is_before ? last_head : first_head);
    }
    if (lane == 3 && is_last) {
        if (partial.ends)
            store(results, last_segment, segments.num_items - last_head, partial.tail);
        *segments.num_found = last_segment + 1;
        launches[0] = launch;  // all others have read it: their counts are in this tile's
    }
    came = __shfl_sync(kFullMask, came, 2);
    if (unsigned(came) != unsigned(num_tiles) - 1u)
        return;
    if (came >> 32 != 0)
        join_through(borders, results, num_tiles - 1, launch);
    if (lane == 2)
        atomicExch(arrivals, u64(0));  // for the next launch
}
