//% use parts/segments/slice_heads.cuh
//% use parts/reduce/warp_scan_tails.cuh
//% use parts/reduce/partial.cuh
// A warp folds slices of flags or keys. Its lanes read neighbouring items, or vectors of items; each lane
// folds kItems consecutive items; and totals replace the items in shared memory.
constexpr int kMostWarps = kMostBlockThreads / kWarpThreads - 1;  // warps that fold; the last counts heads
constexpr bool kInVectors = sizeof(State) == 4;     // wider or narrower states were slower in vectors
constexpr int kUnit = kInVectors ? kStepItems : 1;  // items that a lane reads, stages and takes at once
constexpr int kSliceRoom = kSliceItems + (kInVectors ? kUnit : kSliceItems / 16 + 1);

struct alignas(kInVectors ? 4 * kUnit : alignof(State)) Unit {
    State at[kUnit];
};

// Returns the place at which an item of a slice is staged. Vectors are permuted within the row of the lane
// that folds them. Lanes that stage neighbouring vectors then use different banks, and so do lanes that take
// vectors of their own rows. For the same reason, one place stays free behind every 16 single states.
__device__ __forceinline__ unsigned staged_place(unsigned item)
{
    if (!kInVectors)
        return item + item / 16;
    constexpr unsigned units = kItems / kUnit;
    const unsigned row = item / kItems;
    return row * kItems + (item % kItems / kUnit ^ (row * units / 8 & (units - 1))) * kUnit + item % kUnit;
}

// The run that a warp's share leaves open: the total of its items from the last head on, or of all items if
// there is no head.
struct OpenRun {
    State total;
    bool ends;  // true if there is a head, so a segment that began earlier ends
};

// The runs that the shares of a tile leave open. Each warp has one share.
struct Shares {
    OpenRun runs[kMostWarps];
    State heads[kMostWarps];  // total before the first head, if there is one
    //% if uses_length
    Index first_heads[kMostWarps];
    Index last_heads[kMostWarps];
    //% end
};

// Returns the place in a slice of the k-th item that a lane reads. Neighbouring lanes read neighbouring
// vectors.
__device__ __forceinline__ int read_place(int k)
{
    return (k / kUnit * kWarpThreads + int(threadIdx.x % kWarpThreads)) * kUnit + k % kUnit;
}

// Folds the items of a slice, and returns the run that is open at its end. A segment ends before each head of
// the slice; the total before head h goes to place h of `staged`. `rank` is the number of heads before the
// lane, `carry` the run that is open before the slice.
__device__ __forceinline__ State fold_slice(State* staged, unsigned short* places, unsigned heads, int rank,
                                            State carry)
{
    const int lane = threadIdx.x % kWarpThreads;
    State items[kItems];
    #pragma unroll
    for (int k = 0; k < kItems; k += kUnit) {
        const Unit unit = *reinterpret_cast<const Unit*>(staged + staged_place(lane * kItems + k));
        #pragma unroll
        for (int item = 0; item < kUnit; ++item)
            items[k + item] = unit.at[item];
    }
    __syncwarp();  // all lanes have their items, so totals may replace them

    State tail = lane == 0 ? carry : identity();
    State* total_place = staged + rank;
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const bool head = heads >> k & 1u;
        State* const place = total_place;
        const State total = tail;
        total_place = head ? place + 1 : place;
        tail = head ? items[k] : combine(tail, items[k]);
        if (head)
            *place = total;  // stored last, or ptxas 13.0 runs out of predicates for sm_100
    }
    //% if uses_length
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

// Keeps the total up to the first head of a warp's share for the other warps. One lane calls it.
__device__ __forceinline__ void keep_first_end(Shares& shares, const State* staged,
                                               const unsigned short* places, Index begin)
{
    shares.heads[threadIdx.x / kWarpThreads] = staged[0];
    //% if uses_length
    shares.first_heads[threadIdx.x / kWarpThreads] = begin + places[0];
    //% end
}

// Stores the segments that end before the heads from number `least` on in a slice, neighbouring lanes
// neighbouring segments. `first` is the number of heads before the slice, `opener` the last of them.
__device__ __forceinline__ void store_slice(const Results& results, const State* staged,
                                            const unsigned short* places, int least, int num_heads,
                                            Index first, Index begin, Index opener)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = least + lane; place < num_heads; place += kWarpThreads) {
        //% if uses_length
        const Index length = begin + places[place] - (place == 0 ? opener : begin + places[place - 1]);
        //% else
        constexpr Index length = 1;  // store() only tests that a length is not 0
        //% end
        store(results, first + place - 1, length, staged[place]);
    }
}

// Stores the first segment that ends in a warp's share, if it began in the tile. One lane calls it.
__device__ __forceinline__ void store_first_end(const Results& results, const Shares& shares, Index first)
{
    const int warp = threadIdx.x / kWarpThreads;
    OpenRun earlier = {identity(), false};
    //% if uses_length
    Index opener = 0;  // place of the last head before the share
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
        store(results, first - 1, length, combine(earlier.total, shares.heads[warp]));
}

// Returns the partial of the whole tile; the caller knows its segments' numbers. A whole warp calls it, and
// each lane takes the share of one warp. Lanes before the first share with a head join up to it; lanes from
// the last such share on join up to the tile's end. Without a head, `head` and `tail` are both the total of
// all items.
__device__ __forceinline__ Partial join_shares(const Shares& shares, int num_warps)
{
    const int lane = threadIdx.x % kWarpThreads;
    OpenRun share = {identity(), false};
    if (lane < num_warps)
        share = shares.runs[lane];
    const unsigned ending = __ballot_sync(kFullMask, share.ends);
    const int first = ending != 0 ? __ffs(int(ending)) - 1 : num_warps;
    const int last = ending != 0 ? kWarpThreads - 1 - __clz(int(ending)) : 0;
    const int chain_end = lane < first ? first : num_warps;
    State run = share.total;
    #pragma unroll 1
    for (int delta = 1; delta < num_warps; delta *= 2) {
        const State later = shuffle_down(run, delta);
        if (lane + delta < chain_end)
            run = combine(run, later);
    }
    Partial tile;
    tile.tail = shuffle(run, last);
    tile.head = shuffle(run, 0);
    tile.ends = ending != 0;
    if (tile.ends)
        tile.head = first > 0 ? combine(tile.head, shares.heads[first]) : shares.heads[0];
    //% if uses_length
    tile.first_head = 0;
    tile.last_head = 0;
    if (tile.ends) {
        tile.first_head = shares.first_heads[first];
        tile.last_head = shares.last_heads[last];
    }
    //% end
    return tile;
}
