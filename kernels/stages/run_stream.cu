//% stage   run_stream
//% title   Segments found in flags or keys and folded in one pass; numbers by look-back, carries by a tree
//% after   tile_scan
//% source  Merrill & Garland 2016 (look-back); Merrill & Garland 2016, merge-based SpMV (carries)
//% layout  keys, flags
//% needs   associative, state_bytes <= 64, !uses_position, !uses_segment
//% suits   100
//% tune    block_threads = 256, 128
//% tune    items_per_thread = 16, 8, 4
//% tune    slices_per_warp = 4, 1, 2, 8
//% tune    resident_threads = 1024, 768
//% prefer  slices_per_warp = num_elements >= 33554432 ? 8 : num_elements >= 4194304 ? 4 : 1
//% let     items = ceil_div(items_per_thread * 4, max(4, state_bytes))
//% let     num_tiles = ceil_div(num_items, (block_threads - 32) * items * slices_per_warp)
//% let     num_partials = num_tiles + num_tiles / 31 + 8
//% scratch ticket : unsigned[1] zero
//% scratch launches : unsigned[1] zero
//% scratch tile_counts : u64[num_tiles] zero
//% scratch partial_heads : State[num_partials]
//% scratch partial_tails : State[num_partials]
//% scratch partial_ends : bool[num_partials]
//% scratch last_segments : Index[num_partials]
//% if uses_length
//% scratch first_heads : Index[num_partials]
//% scratch last_heads : Index[num_partials]
//% end
//% scratch arrivals : unsigned[num_partials] zero
//% launch fold_runs grid = min(num_tiles, resident_threads / block_threads * num_multiprocessors) block = block_threads
//% use     parts/segments.cuh
//% use     parts/run.cuh
//% use     parts/look_back.cuh
//% use     parts/combining_tree.cuh

constexpr int kMostWarps = kMostBlockThreads / kWarpThreads - 1;  // that fold; the last one of a block counts
// Wide states get fewer items, so that a tile takes the same room.
constexpr int kStateBytes = sizeof(State) < 4 ? 4 : int(sizeof(State));
constexpr int kItems = (kItemsPerThread * 4 + kStateBytes - 1) / kStateBytes;
constexpr int kSliceItems = kItems * kWarpThreads;
constexpr int kSliceRoom = kSliceItems + kSliceItems / 16 + 1;

// Where an item of a slice is staged: one place is left free after each 16, so that lanes that read kItems
// consecutive ones each meet different banks.
__device__ __forceinline__ unsigned staged_place(unsigned item)
{
    return item + item / 16;
}

// True for an item that begins a segment.
__device__ __forceinline__ bool is_head(const Segments& segments, Index item)
{
    //% if flags
    return item == 0 || segments.flags[item] != 0;
    //% else
    return item == 0 || segments.keys[item] != segments.keys[item - 1];
    //% end
}

// What the warps of a block tell each other of their shares of a tile. Counts are written before the
// tile's first barrier, `firsts` between it and the second, the rest before the third, and nothing is
// read but between barriers or after the third one.
struct Shares {
    int counts[kMostWarps];    // heads
    Index firsts[kMostWarps];  // heads in the input before the share
    Run runs[kMostWarps];      // from the last head on
    State heads[kMostWarps];   // before the first head, if there is one
    //% if uses_length
    Index first_heads[kMostWarps];
    Index last_heads[kMostWarps];
    //% end
};

// Gives each lane the sum of the counts of the lanes up to it, itself included.
__device__ __forceinline__ int warp_scan_counts(int count)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, count, delta);
        count += lane >= delta ? earlier : 0;
    }
    return count;
}

//% if flags
// One bit for each of four flags.
__device__ __forceinline__ unsigned four_flags(unsigned flags)
{
    const unsigned highest = ((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags;  // bit of each byte: it is not 0
    return ((highest >> 7 & 0x01010101u) * 0x10204080u) >> 28;
}

// One bit for each of a lane's kItems flags. Sixteen are read at once: slices begin at multiples of 16.
__device__ __forceinline__ unsigned load_flags(const unsigned char* flags)
{
    unsigned heads = 0;
    if (kItems == 16) {
        const uint4 read = *reinterpret_cast<const uint4*>(flags);
        heads = four_flags(read.x) | four_flags(read.y) << 4 | four_flags(read.z) << 8
            | four_flags(read.w) << 12;
    } else {
        #pragma unroll
        for (int k = 0; k < kItems; ++k)
            heads |= flags[k] != 0 ? 1u << k : 0u;
    }
    return heads;
}
//% else
// Neighbouring keys that a lane reads at once: up to 16 bytes, and a power of 2 that divides kItems.
constexpr int kMostKeys = 16 / int(sizeof(Key));
constexpr int kVectorKeys = (kItems & -kItems) < kMostKeys ? kItems & -kItems : kMostKeys;
constexpr int kKeyRows = kItems / kVectorKeys;  // each of 32 vectors
struct __align__(kVectorKeys * sizeof(Key)) KeyVector {
    Key at[kVectorKeys];
};

// One bit for each of a lane's kItems items that is a head. The bits are found where the keys were read, and
// go to the lane that has the items through `exchange`.
__device__ __forceinline__ unsigned find_heads(const KeyVector (&keys)[kKeyRows], Key before_row,
                                               unsigned short* exchange)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        // The key before a lane's own is the last of the lane below, for lane 0 the last of the row before.
        const Key last = keys[row].at[kVectorKeys - 1];
        const Key turned = Key(__shfl_sync(kFullMask, last, (lane + kWarpThreads - 1) % kWarpThreads));
        Key before = lane == 0 ? before_row : turned;
        before_row = turned;
        unsigned bits = 0;
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k) {
            bits |= keys[row].at[k] != before ? 1u << k : 0u;
            before = keys[row].at[k];
        }
        exchange[row * kWarpThreads + lane] = (unsigned short)bits;
    }
    __syncwarp();  // all lanes' bits are there
    unsigned heads = 0;
    #pragma unroll
    for (int k = 0; k < kKeyRows; ++k)
        heads |= unsigned(exchange[lane * kKeyRows + k]) << (k * kVectorKeys);
    return heads;
}
//% end

// Gives each lane a bit for each of its kItems consecutive items of a warp's slice that is a head.
__device__ __forceinline__ unsigned load_heads(const Segments& segments, Index begin,
                                               unsigned short* exchange)
{
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned first = begin == 0 && lane == 0 ? 1u : 0u;  // a segment begins with the input
    //% if flags
    const bool aligned = (unsigned long long)segments.flags % 16 == 0;
    //% else
    const bool aligned = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    //% end
    if (aligned && begin + kSliceItems <= segments.num_items) {
        //% if flags
        const unsigned heads = load_flags(segments.flags + begin + lane * kItems);
        //% else
        KeyVector keys[kKeyRows];
        #pragma unroll
        for (int row = 0; row < kKeyRows; ++row)
            keys[row] = reinterpret_cast<const KeyVector*>(segments.keys + begin)[row * kWarpThreads + lane];
        const Key before = segments.keys[begin > 0 ? begin - 1 : 0];
        const unsigned heads = find_heads(keys, before, exchange);
        //% end
        return heads | first;
    }

    // The end of the input, beyond which lies no head; or marks that vectors do not fit.
    unsigned rows = 0;  // lane k has the heads of the k-th 32 items
    #pragma unroll 1
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + k * kWarpThreads + lane;
        const unsigned row = __ballot_sync(kFullMask, item < segments.num_items && is_head(segments, item));
        if (lane == k)
            rows = row;
    }
    const int bit = lane * kItems;
    const unsigned low = __shfl_sync(kFullMask, rows, bit / kWarpThreads);
    const unsigned high = __shfl_sync(kFullMask, rows, (bit / kWarpThreads + 1) % kWarpThreads);
    return __funnelshift_r(low, high, bit % kWarpThreads) & ((1u << kItems) - 1u);
}

// Puts the items of a warp's slice into `staged`, the identity behind the last one. Lanes read
// neighbouring items, and all that a warp needs is under way at once.
__device__ __forceinline__ void load_slice(const Inputs& inputs, const Segments& segments, Index begin,
                                           State* staged)
{
    const int lane = threadIdx.x % kWarpThreads;
    State* const mine = staged + staged_place(lane);
    if (begin + kSliceItems <= segments.num_items) {
        State items[kItems];
        #pragma unroll
        for (int k = 0; k < kItems; ++k)
            items[k] = load_item(inputs, begin + k * kWarpThreads + lane, 0, 0);
        #pragma unroll
        for (int k = 0; k < kItems; ++k)
            mine[k * staged_place(kWarpThreads)] = items[k];
        return;
    }
    #pragma unroll 1
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + k * kWarpThreads + lane;
        mine[k * staged_place(kWarpThreads)] =
            item < segments.num_items ? load_item(inputs, item, 0, 0) : identity();
    }
}

// Folds the items of a slice and returns the run that is open at its end. At the h-th head of the slice
// a segment ends, and its total takes place h of `staged`; `rank` is the number of heads before the
// lane, `carry` the run that is open before the slice.
__device__ __forceinline__ State fold_slice(State* staged, unsigned short* places, unsigned heads, int rank,
                                            State carry)
{
    const int lane = threadIdx.x % kWarpThreads;
    const State* const mine = staged + staged_place(lane * kItems);
    State items[kItems];
    #pragma unroll
    for (int k = 0; k < kItems; ++k)  // where kItems divides 16, no free place is among a lane's items
        items[k] = 16 % kItems == 0 ? mine[k] : staged[staged_place(lane * kItems + k)];
    __syncwarp();  // all lanes have their items, totals may take their places

    State tail = lane == 0 ? carry : identity();
    State* total_place = staged + rank;
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const bool head = heads >> k & 1u;
        if (head)
            *total_place = tail;
        total_place += head;
        tail = head ? items[k] : combine(tail, items[k]);
    }
    //% if keys || uses_length
    unsigned short* head_place = places + rank;
    #pragma unroll 1
    for (unsigned rest = heads; rest != 0; rest &= rest - 1u)
        *head_place++ = (unsigned short)(lane * kItems + __ffs(int(rest)) - 1);
    //% end

    const unsigned ends = __ballot_sync(kFullMask, heads != 0);
    tail = warp_scan_tails(tail, ends);
    const State before = shuffle_up(tail, 1);
    if (heads != 0 && lane > 0)
        staged[rank] = combine(before, staged[rank]);
    return shuffle(tail, kWarpThreads - 1);
}

// Stores what ends in a slice, neighbouring lanes neighbouring segments. `first` heads are in the input
// before it; `opener` is the last one. The first segment that ends in the warp's share waits in
// `shares`.
__device__ __forceinline__ void store_slice(const Segments& segments, const Results& results,
                                            const State* staged, const unsigned short* places, Shares& shares,
                                            int num_heads, bool is_first_end, Index first, Index begin,
                                            Index opener)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < num_heads; place += kWarpThreads) {
        //% if uses_length
        const Index length = begin + places[place] - (place == 0 ? opener : begin + places[place - 1]);
        //% else
        constexpr Index length = 1;  // nobody asks for more than that it is not 0
        //% end
        if (place > 0 || !is_first_end) {
            store(results, first + place - 1, length, staged[place]);
        } else {
            shares.heads[threadIdx.x / kWarpThreads] = staged[0];
            //% if uses_length
            shares.first_heads[threadIdx.x / kWarpThreads] = begin + places[0];
            //% end
        }
    }
    //% if keys
    // Several keys of a lane are under way at once; those of one after the other would each be waited for.
    constexpr int kTogether = 4;
    #pragma unroll 1
    for (int place = lane; place < num_heads; place += kTogether * kWarpThreads) {
        Key keys[kTogether];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (place + k * kWarpThreads < num_heads)
                keys[k] = segments.keys[begin + places[place + k * kWarpThreads]];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (place + k * kWarpThreads < num_heads)
                segments.found_keys[first + place + k * kWarpThreads] = keys[k];
    }
    //% end
}

// Stores the first segment that ends in a warp's share, if it began in the tile; one lane calls it.
__device__ __forceinline__ void store_first_end(const Results& results, const Shares& shares)
{
    const int warp = threadIdx.x / kWarpThreads;
    Run earlier = {identity(), false};
    //% if uses_length
    Index opener = 0;  // the last head before the share
    //% end
    #pragma unroll 1
    for (int other = warp - 1; other >= 0 && !earlier.ends; --other) {
        //% if uses_length
        if (shares.runs[other].ends)
            opener = shares.last_heads[other];
        //% end
        earlier = {combine(shares.runs[other].total, earlier.total), shares.runs[other].ends};
    }
    //% if uses_length
    const Index length = shares.first_heads[warp] - opener;
    //% else
    constexpr Index length = 1;
    //% end
    if (earlier.ends)
        store(results, shares.firsts[warp] - 1, length, combine(earlier.total, shares.heads[warp]));
}

// What the whole tile has to tell other tiles.
__device__ __forceinline__ Partial join_shares(const Shares& shares, int num_warps)
{
    Partial tile;
    Run run = {identity(), false};
    tile.head = identity();
    //% if uses_length
    tile.first_head = 0;
    tile.last_head = 0;
    //% end
    #pragma unroll 1
    for (int warp = 0; warp < num_warps; ++warp) {
        const Run share = shares.runs[warp];
        if (share.ends && !run.ends)
            tile.head = combine(run.total, shares.heads[warp]);
        //% if uses_length
        if (share.ends && !run.ends)
            tile.first_head = shares.first_heads[warp];
        if (share.ends)
            tile.last_head = shares.last_heads[warp];
        //% end
        run = join(run, share);
    }
    tile.tail = run.total;
    tile.ends = run.ends;
    return tile;
}

// Blocks take tiles of consecutive items by tickets, in order, so that all earlier tiles are done or
// under way. A warp takes a share of the tile, slice by slice: first it looks for heads in all of them,
// then it loads 32 neighbouring items at a time, folds kItems consecutive ones in each lane, and
// combines strictly as the items lie. The last warp of a block has no items: it finds out how many
// segments begin in earlier tiles while the others fold their first slices, and hands the tile's ends
// to the tree while they look for heads in the next tile. How fast that number travels from tile to
// tile bounds the rate, so tiles are large.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1024 / kMostBlockThreads)
fold_runs(Inputs inputs,
          Segments segments,
          Results results,
          //% number block_threads
          //% number slices_per_warp
          unsigned* ticket,
          volatile unsigned* launches,
          volatile u64* tile_counts,
          State* partial_heads,
          State* partial_tails,
          bool* partial_ends,
          Index* last_segments,
          //% if uses_length
          Index* first_heads,
          Index* last_heads,
          //% end
          unsigned* arrivals)
{
    __shared__ State staged_items[kMostWarps * kSliceRoom];
    __shared__ unsigned short marks[kMostWarps * kMostSlicesPerWarp * kWarpThreads];  // a bit an item: a head
    //% if keys || uses_length
    __shared__ unsigned short head_places[kMostWarps * kSliceItems];  // in the slice, by their rank in it
    //% end
    __shared__ Shares shares;
    __shared__ Index next_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads - 1;  // that fold
    const int share_items = kSliceItems * slices_per_warp;   // of a tile, a warp's
    const int tile_items = share_items * num_warps;
    const Index num_tiles = (segments.num_items - 1) / tile_items + 1;
    // Each block takes one ticket more than it has tiles; the last of all wraps to 0 for the next launch.
    const unsigned last_ticket = unsigned(num_tiles) + gridDim.x - 1u;
    //% if uses_length
    const Tree tree = {partial_heads, partial_tails, partial_ends, last_segments,
                       first_heads,   last_heads,    arrivals};
    //% else
    const Tree tree = {partial_heads, partial_tails, partial_ends, last_segments, arrivals};
    //% end
    State* const staged = staged_items + warp % num_warps * kSliceRoom;
    unsigned short* const own_marks = marks + warp % num_warps * (slices_per_warp * kWarpThreads);
    //% if keys || uses_length
    unsigned short* const places = head_places + warp % num_warps * kSliceItems;
    //% else
    unsigned short* const places = nullptr;
    //% end

    if (threadIdx.x == 0)
        next_tile = Index(atomicInc(ticket, last_ticket));
    __syncthreads();  // the first ticket is there
    Index tile = next_tile;
    if (tile >= num_tiles)
        return;
    const unsigned launch = launches[0] + 1u;  // the launch ends after the last tile only

    #pragma unroll 1
    while (tile < num_tiles) {
        const Index begin = tile * tile_items + warp * share_items;
        if (warp < num_warps) {
            int count = 0;
            #pragma unroll 1
            for (int slice = 0; slice < slices_per_warp; ++slice) {
                const unsigned heads = load_heads(segments, begin + slice * kSliceItems, places);
                own_marks[slice * kWarpThreads + lane] = (unsigned short)heads;
                count += __popc(heads);
                __syncwarp();  // all lanes are done with the exchange
            }
            count = warp_scan_counts(count);
            if (lane == kWarpThreads - 1)
                shares.counts[warp] = count;
        }
        __syncthreads();  // all shares have their counts, and nobody needs the tile before any more

        Index first = 0;    // heads before the tile, for the last warp
        int num_heads = 0;  // in the tile, for the last warp; in the slices so far, for the others
        State carry = identity();
        Index opener = 0;
        #pragma unroll 1
        for (int slice = 0; slice < slices_per_warp; ++slice) {
            const Index slice_begin = begin + slice * kSliceItems;
            int slice_heads = 0;
            if (warp < num_warps) {
                load_slice(inputs, segments, slice_begin, staged);
                const unsigned heads = own_marks[slice * kWarpThreads + lane];
                const int up_to_here = warp_scan_counts(__popc(heads));
                slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
                __syncwarp();  // all items are staged
                carry = fold_slice(staged, places, heads, up_to_here - __popc(heads), carry);
                __syncwarp();  // all totals are complete
            } else if (slice == 0) {
                const int count = lane < num_warps ? shares.counts[lane] : 0;
                const int up_to_here = warp_scan_counts(count);
                num_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
                unsigned taken = 0;
                if (lane == 0) {
                    publish_count(tile_counts, tile, word_tag(launch, kTileCount), num_heads);
                    taken = atomicInc(ticket, last_ticket);
                }
                first = look_back(tile_counts, tile, launch);
                if (lane == 0) {
                    publish_count(tile_counts, tile, word_tag(launch, kPrefixCount), first + num_heads);
                    next_tile = Index(taken);
                }
                if (lane < num_warps)
                    shares.firsts[lane] = first + up_to_here - count;
            }
            if (slice == 0)
                __syncthreads();  // the numbers of earlier heads and the next tile are there
            if (warp < num_warps) {
                store_slice(segments, results, staged, places, shares, slice_heads, num_heads == 0,
                            shares.firsts[warp] + num_heads, slice_begin, opener);
                //% if uses_length
                if (slice_heads > 0)
                    opener = slice_begin + places[slice_heads - 1];
                //% end
                num_heads += slice_heads;
                __syncwarp();  // all lanes are done with the slice, the next one may take its place
            }
        }
        if (warp < num_warps && lane == 0) {
            shares.runs[warp] = {carry, num_heads > 0};
            //% if uses_length
            shares.last_heads[warp] = opener;
            //% end
        }
        __syncthreads();  // what the shares leave open is there

        if (warp < num_warps) {
            if (lane == 0 && num_heads > 0)
                store_first_end(results, shares);
        } else {
            Partial partial = join_shares(shares, num_warps);
            partial.last_segment = first + num_heads - 1;
            if (climb_tree(tree, results, num_tiles, tile, partial) && lane == 0) {
                //% if uses_length
                const Index length = segments.num_items - partial.last_head;
                //% else
                constexpr Index length = 1;
                //% end
                store(results, partial.last_segment, length, partial.tail);
                *segments.num_found = partial.last_segment + 1;
                launches[0] = launch;
            }
        }
        tile = next_tile;
    }
}
