// run_stream: Segments found in flags or keys and folded in one pass; numbers by look-back, carries by a tree
// Segments given as keys of 4 bytes, 32-bit indices.
// block_threads = 256
// items_per_thread = 16
// slices_per_warp = 1
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/run_stream.cu; edit that file instead.

using Index = int;
using Key = unsigned;
using u64 = unsigned long long;

constexpr int kMostBlockThreads = 256;
constexpr int kItemsPerThread = 16;
constexpr int kMostSlicesPerWarp = 1;
constexpr int block_threads = 256;
constexpr int slices_per_warp = 1;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

struct Inputs {
    const int* x;
};

struct Results {
    int* result;
};

using State = int;

__device__ __forceinline__ State identity()
{
    return 0;
}

__device__ __forceinline__ State lift(int x)
{
    return x;
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
__device__ __forceinline__ State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return int(unsigned(a) + unsigned(b));
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
}

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    return __shfl_up_sync(kFullMask, state, delta);
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    return __shfl_down_sync(kFullMask, state, delta);
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    return __shfl_sync(kFullMask, state, lane);
}

// Segments are the runs of items with equal keys. The kernels find the number of segments.
struct Segments {
    const Key* keys;   // [num_items]
    Key* found_keys;   // [num_items]; the kernels write one key for each segment
    Index* num_found;  // [1], written by the kernels
    Index num_items;
};

// A head is an item of flags or keys that begins a segment. A slice consists of the items that a warp takes
// at a time.
// Each lane takes kItems consecutive items of a slice. If states are wide, kItems is smaller, so that a slice
// takes the same room.
constexpr int kStateBytes = sizeof(State) < 4 ? 4 : int(sizeof(State));
constexpr int kItems = (kItemsPerThread * 4 + kStateBytes - 1) / kStateBytes;
constexpr int kSliceItems = kItems * kWarpThreads;

// True if an item begins a segment.
__device__ __forceinline__ bool is_head(const Segments& segments, Index item)
{
    return item == 0 || segments.keys[item] != segments.keys[item - 1];
}

// Returns to each lane the sum of the counts of all lanes up to it, its own included.
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

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head. Serves the end of the input,
// behind which no item is a head, and arrays that are not aligned to vectors.
__device__ __forceinline__ unsigned vote_heads(const Segments& segments, Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    constexpr int kTogether = 4;  // rows of 32 items that are read at once
    unsigned rows = 0;            // lane k has the heads of row k
    #pragma unroll 1
    for (int k = 0; k < kItems; k += kTogether) {
        bool found[kTogether];
        #pragma unroll
        for (int ahead = 0; ahead < kTogether; ++ahead) {
            const Index item = begin + (k + ahead) * kWarpThreads + lane;
            found[ahead] = k + ahead < kItems && item < segments.num_items && is_head(segments, item);
        }
        #pragma unroll
        for (int ahead = 0; ahead < kTogether; ++ahead) {
            const unsigned row = __ballot_sync(kFullMask, found[ahead]);
            if (lane == k + ahead)
                rows = row;
        }
    }
    const int bit = lane * kItems;
    const unsigned low = __shfl_sync(kFullMask, rows, bit / kWarpThreads);
    const unsigned high = __shfl_sync(kFullMask, rows, (bit / kWarpThreads + 1) % kWarpThreads);
    return __funnelshift_r(low, high, bit % kWarpThreads) & ((1u << kItems) - 1u);
}

// Neighbouring keys that a lane reads at once: up to 16 bytes, and a power of 2 that divides kItems.
constexpr int kMostKeys = 16 / int(sizeof(Key));
constexpr int kVectorKeys = (kItems & -kItems) < kMostKeys ? kItems & -kItems : kMostKeys;
constexpr int kKeyRows = kItems / kVectorKeys;  // rows of 32 vectors
struct __align__(kVectorKeys * sizeof(Key)) KeyVector {
    Key at[kVectorKeys];
};

// Returns a bit for each key of a lane's vector: 1 if it differs from the key before it. `before_row` is the
// key before the row of vectors; it becomes the row's last key in lane 0.
__device__ __forceinline__ unsigned vector_heads(const KeyVector& keys, Key& before_row)
{
    const int lane = threadIdx.x % kWarpThreads;
    // The key before a lane's vector is the last key of the lane below; for lane 0, of the row before.
    const Key last = keys.at[kVectorKeys - 1];
    const Key turned = Key(__shfl_sync(kFullMask, last, (lane + kWarpThreads - 1) % kWarpThreads));
    Key before = lane == 0 ? before_row : turned;
    before_row = turned;
    unsigned bits = 0;
    #pragma unroll
    for (int k = 0; k < kVectorKeys; ++k) {
        bits |= keys.at[k] != before ? 1u << k : 0u;
        before = keys.at[k];
    }
    return bits;
}

// Returns a bit for each of a lane's kItems items, from the bits that lanes stored for the keys that they
// read.
__device__ __forceinline__ unsigned exchanged_heads(const unsigned short* exchange)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned heads = 0;
    #pragma unroll
    for (int k = 0; k < kKeyRows; ++k)
        heads |= unsigned(exchange[lane * kKeyRows + k]) << (k * kVectorKeys);
    return heads;
}

// Stores the keys of the segments that begin in a slice; neighbouring lanes store those of neighbouring
// segments. The first of these segments has number `first`. `rank` is the number of heads in the slice before
// this lane's items. All lanes share `places`. A lane reads several keys at once.
__device__ __forceinline__ void store_slice_keys(unsigned short* places, const Segments& segments,
                                                 unsigned heads, int rank, int num_heads, Index begin,
                                                 Index first)
{
    constexpr int kTogether = 4;
    const int lane = threadIdx.x % kWarpThreads;
    unsigned short* place_of_head = places + rank;
    #pragma unroll 1
    for (unsigned rest = heads; rest != 0; rest &= rest - 1u)
        *place_of_head++ = (unsigned short)(lane * kItems + __ffs(int(rest)) - 1);
    __syncwarp();  // all places are written
    #pragma unroll 1
    for (int head = lane; head < num_heads; head += kTogether * kWarpThreads) {
        Key read[kTogether];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (head + k * kWarpThreads < num_heads)
                read[k] = segments.keys[begin + places[head + k * kWarpThreads]];
        #pragma unroll
        for (int k = 0; k < kTogether; ++k)
            if (head + k * kWarpThreads < num_heads)
                segments.found_keys[first + head + k * kWarpThreads] = read[k];
    }
}

// The heads of a warp's share of a tile. A share consists of consecutive slices. Its heads are found before
// anything is folded, and are kept as marks.
constexpr int kMarks = kMostSlicesPerWarp * kWarpThreads;  // marks of a share, one for each lane and slice

// Keys of the first heads of a share. They are kept until the number of earlier heads is known, so that they
// need not be read again. A warp keeps as many keys as its part of 48 KiB leaves room for. 512 bytes are
// enough for `exchange` and small members, unless lanes have an odd number of items: lanes then read single
// keys, and `exchange` is longer.
constexpr int kExchangeBytes = 2 * kKeyRows * kWarpThreads;
constexpr int kOtherBytes = (kSliceItems + kSliceItems / 16 + 3) * int(sizeof(State)) + 4 * kMarks
    + (kExchangeBytes <= 512 ? 512 : kExchangeBytes + 32);
constexpr int kWarpBytes = (48 * 1024 - 256) / (kMostBlockThreads / kWarpThreads - 1);
constexpr int kRoom = (kWarpBytes - kOtherBytes) / int(sizeof(Key)) / 16 * 16;
constexpr int kMostHeldKeys = kRoom < 1024 ? kRoom : 1024;
struct HeldKeys {
    union {
        Key at[kMostHeldKeys];
        unsigned short places[kSliceItems];  // places of a slice's heads; used after `at` is stored
    };
    unsigned short exchange[kKeyRows * kWarpThreads];  // for each lane, bits of the keys that it reads
    int count;                                         // keys in `at`: heads of the first `slices` slices
    int slices;
};

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head. Lanes find the bits of the keys
// that they read, and exchange them for the bits of their items. `num_heads` counts the heads of the share.
__device__ __forceinline__ unsigned hold_keys(HeldKeys& held, const KeyVector (&keys)[kKeyRows],
                                              Key before_slice, bool is_first, int& num_heads)
{
    const int lane = threadIdx.x % kWarpThreads;
    Key before_row = before_slice;
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        unsigned bits = vector_heads(keys[row], before_row);
        bits |= row == 0 && is_first && lane == 0 ? 1u : 0u;  // the input's first item is a head
        held.exchange[row * kWarpThreads + lane] = (unsigned short)bits;
        int place = num_heads;
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k) {
            const unsigned voted = __ballot_sync(kFullMask, bits >> k & 1u);
            place += __popc(voted & ((1u << lane) - 1u));
            num_heads += __popc(voted);
        }
        #pragma unroll
        for (int k = 0; k < kVectorKeys; ++k)
            if (bits >> k & 1u) {
                if (place < kMostHeldKeys)
                    held.at[place] = keys[row].at[k];
                ++place;
            }
    }
    __syncwarp();  // all lanes have written their bits
    const unsigned heads = exchanged_heads(held.exchange);
    __syncwarp();  // all lanes have read the bits, so the next slice may write
    return heads;
}

// Stores the heads of a warp's share in its `marks`, and the keys of the first heads in `held`. Returns the
// number of a lane's heads.
__device__ __forceinline__ int find_heads(unsigned short* marks, HeldKeys& held, const Segments& segments,
                                          Index begin, int num_slices)
{
    const int lane = threadIdx.x % kWarpThreads;
    const bool fits = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    int count = 0;      // heads in the lane's items so far
    int num_heads = 0;  // heads in all lanes' items so far
    int held_count = 0;
    int held_slices = 0;
    #pragma unroll 1
    for (int slice = 0; slice < num_slices; ++slice) {
        const Index first = begin + slice * kSliceItems;
        unsigned heads = 0;
        if (fits && first + kSliceItems <= segments.num_items) {
            KeyVector keys[kKeyRows];
            #pragma unroll
            for (int row = 0; row < kKeyRows; ++row)
                keys[row] =
                    reinterpret_cast<const KeyVector*>(segments.keys + first)[row * kWarpThreads + lane];
            const Key before = segments.keys[first > 0 ? first - 1 : 0];
            heads = hold_keys(held, keys, before, first == 0, num_heads);
            if (held_slices == slice && num_heads <= kMostHeldKeys) {
                held_count = num_heads;
                held_slices = slice + 1;
            }
        } else {
            heads = vote_heads(segments, first);
        }
        marks[slice * kWarpThreads + lane] = (unsigned short)heads;
        count += __popc(heads);
    }
    if (lane == 0) {
        held.count = held_count;
        held.slices = held_slices;
    }
    return count;
}

// Stores the keys of the segments that begin in a warp's share. `first` is the number of segments that begin
// before it.
__device__ __forceinline__ void store_keys(HeldKeys& held, const unsigned short* marks,
                                           const Segments& segments, Index begin, int num_slices, Index first)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < held.count; place += kWarpThreads)
        segments.found_keys[first + place] = held.at[place];
    first += held.count;
    // Keys that `held` had no room for are read again.
    #pragma unroll 1
    for (int slice = held.slices; slice < num_slices; ++slice) {
        __syncwarp();  // all lanes are done with `at` or the earlier places
        const unsigned heads = marks[slice * kWarpThreads + lane];
        const int up_to_here = warp_scan_counts(__popc(heads));
        const int slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
        store_slice_keys(held.places, segments, heads, up_to_here - __popc(heads), slice_heads,
                         begin + slice * kSliceItems, first);
        first += slice_heads;
    }
    __syncwarp();  // all lanes are done with the share
}

// Returns to each lane the joined totals of the lanes up to it, from the last lane whose bit in `ends` is
// set. Both ends are included. A set bit means that a segment ends in that lane, and that the lane's total
// covers the items behind the last end. This function is always inlined, because a call would wait for all
// items that are still being loaded.
__device__ __forceinline__ State warp_scan_tails(State total, unsigned ends)
{
    const int lane = threadIdx.x % kWarpThreads;
    const unsigned up_to_here = ends & (kFullMask >> (kWarpThreads - 1 - lane));
    const int first = up_to_here == 0 ? 0 : kWarpThreads - 1 - __clz(int(up_to_here));
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State earlier = shuffle_up(total, delta);
        if (lane - delta >= first)
            total = combine(earlier, total);
    }
    return total;
}

// The fold of consecutive tiles. A head is an item that begins a segment.
struct Partial {
    State head;          // total of the items before the first head, if there is one
    State tail;          // total of the items from the last head on; of all items if there is no head
    bool ends;           // true if there is a head, so a segment that began earlier ends
    Index last_segment;  // the segment of the last item
};

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    int at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// True if load_vectors() may be called.
__device__ __forceinline__ bool is_aligned(const Inputs& inputs)
{
    return (unsigned long long)inputs.x % alignof(Chunk_x) == 0;
}

// Loads the kStepItems items from the element at `index` on. `index` must be a multiple of kStepItems, and
// all items must exist.
__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)
{
    Items items;
    items.x[0] = *(const Chunk_x*)(inputs.x + index);
    return items;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

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
        constexpr Index length = 1;  // store() only tests that a length is not 0
        store(results, first + place - 1, length, staged[place]);
    }
}

// Stores the first segment that ends in a warp's share, if it began in the tile. One lane calls it.
__device__ __forceinline__ void store_first_end(const Results& results, const Shares& shares, Index first)
{
    const int warp = threadIdx.x / kWarpThreads;
    OpenRun earlier = {identity(), false};
    #pragma unroll 1
    for (int other = warp - 1; other >= 0 && !earlier.ends; --other) {
        earlier = {combine(shares.runs[other].total, earlier.total), shares.runs[other].ends};
    }
    constexpr Index length = 1;
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
    return tile;
}

// Reads the items of a warp's slice. Items behind the last one become the identity. A warp reads the whole
// slice at once.
__device__ __forceinline__ void read_slice(State (&items)[kItems], const Inputs& inputs,
                                           const Segments& segments, Index begin)
{
    if (begin + kSliceItems <= segments.num_items && (!kInVectors || is_aligned(inputs))) {
        #pragma unroll
        for (int k = 0; k < kItems; k += kUnit) {
            const Index index = begin + read_place(k);
            if (!kInVectors) {
                items[k] = load_item(inputs, index, 0, 0);
                continue;
            }
            const Items some = load_vectors(inputs, index);
            #pragma unroll
            for (int item = 0; item < kUnit; ++item)
                items[k + item] = lift_item(inputs, some, item, index + item);
        }
        return;
    }
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + read_place(k);
        items[k] = identity();
        if (item < segments.num_items)
            items[k] = load_item(inputs, item, 0, 0);
    }
}

__device__ __forceinline__ void stage_slice(State* staged, const State (&items)[kItems])
{
    #pragma unroll
    for (int k = 0; k < kItems; k += kUnit) {
        Unit unit;
        #pragma unroll
        for (int item = 0; item < kUnit; ++item)
            unit.at[item] = items[k + item];
        *reinterpret_cast<Unit*>(staged + staged_place(read_place(k))) = unit;
    }
}

// Counts of earlier tiles by decoupled look-back (Merrill & Garland 2016). A tile's word holds, from the top:
// 22 bits of the launch's number, so that words of earlier launches are ignored; 2 bits with one of the
// values below; 40 bits of a count.
constexpr unsigned kTileCount = 1;    // count of the tile alone
constexpr unsigned kPrefixCount = 2;  // count of all tiles up to this one

__device__ __forceinline__ unsigned word_tag(unsigned launch, unsigned what)
{
    return (launch & 0x3fffffu) << 2 | what;
}

// Publishes a count of a tile. One lane of the tile's warp calls it.
__device__ __forceinline__ void publish_count(volatile u64* words, Index tile, unsigned tag, Index count)
{
    words[tile] = u64(tag) << 40 | u64(count);
}

// Returns the sum of the counts of all tiles before `tile` to all lanes of a warp. Tiles must be taken in
// their order by running blocks, so that the wait for them ends. Sums of integers do not depend on the
// progress of other blocks.
__device__ __noinline__ Index look_back(volatile u64* words, Index tile, unsigned launch)
{
    // The number of words that each lane reads at once. The way back to a prefix grows with the number of
    // tiles in flight.
    constexpr int kAhead = 4;
    const int lane = threadIdx.x % kWarpThreads;
    const u64 nothing = u64(word_tag(launch, kPrefixCount)) << 40;  // stands for tiles before the first one
    const unsigned prefix_tag = word_tag(launch, kPrefixCount);
    const unsigned tile_tag = word_tag(launch, kTileCount);
    Index other = tile - 1 - lane;  // the tile that this lane reads
    u64 read[kAhead];
    #pragma unroll
    for (int k = 0; k < kAhead; ++k)
        read[k] = other >= k * kWarpThreads ? words[other - k * kWarpThreads] : nothing;
    Index count = 0;
    for (;;) {
        u64 word = read[0];
        unsigned prefixes = 0;
        unsigned counting = 0;  // the lanes up to the nearest prefix; all if there is none
        for (;;) {
            prefixes = __ballot_sync(kFullMask, unsigned(word >> 40) == prefix_tag);
            counting = prefixes ^ (prefixes - 1u);
            const unsigned known = prefixes | __ballot_sync(kFullMask, unsigned(word >> 40) == tile_tag);
            if ((counting & ~known) == 0)
                break;
            word = other >= 0 ? words[other] : nothing;
        }
        if (counting >> lane & 1u)
            count += Index(word & 0xffffffffffull);
        if (prefixes != 0)
            break;
        other -= kWarpThreads;
        #pragma unroll
        for (int k = 0; k + 1 < kAhead; ++k)
            read[k] = read[k + 1];
        const Index next = other - (kAhead - 1) * kWarpThreads;
        read[kAhead - 1] = next >= 0 ? words[next] : nothing;
    }
    #pragma unroll
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2)
        count += __shfl_xor_sync(kFullMask, count, distance);
    return count;
}

// Partials of all tiles, then of groups of 32 tiles, then of groups of 32 groups, and so on up to one group.
struct Tree {
    State* heads;
    State* tails;
    bool* ends;
    Index* last_segments;
    unsigned* arrivals;  // at a group's place: number of its members that have written their partials
};

__device__ __forceinline__ void write_partial(const Tree& tree, Index place, const Partial& partial)
{
    tree.heads[place] = partial.head;
    tree.tails[place] = partial.tail;
    tree.ends[place] = partial.ends;
    tree.last_segments[place] = partial.last_segment;
}

// Joins a group's partials, one in each of the first lanes of a warp, in their order. Stores segments that
// begin in one partial and end in a later one. The end of a segment that began earlier becomes the group's
// head.
__device__ __forceinline__ Partial join_group(const Tree& tree, const Results& results, Index first,
                                              int members)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index place = first + (lane < members ? lane : 0);
    const State tail = lane < members ? tree.tails[place] : identity();
    const bool ends = lane < members && tree.ends[place];
    const unsigned heads = __ballot_sync(kFullMask, ends);
    const unsigned earlier = heads & ((1u << lane) - 1u);

    const State total = warp_scan_tails(tail, heads);
    const State before = shuffle_up(total, 1);
    State head = tree.heads[place];
    if (lane > 0)
        head = combine(before, head);
    const Index last_segment = tree.last_segments[place];
    const Index segment = __shfl_up_sync(kFullMask, last_segment, 1);
    constexpr Index length = 1;  // store() only tests that the length is not 0
    if (ends && earlier != 0)
        store(results, segment, length, head);

    Partial group;
    group.head = shuffle(head, heads == 0 ? 0 : __ffs(int(heads)) - 1);
    group.tail = shuffle(total, members - 1);
    group.ends = heads != 0;
    group.last_segment = __shfl_sync(kFullMask, last_segment, members - 1);
    return group;
}

// Gives a tile's partial, which all lanes of a warp hold, to the tree. The last of 32 neighbours to arrive
// joins their partials and gives the result to the next level. No warp waits, and the order of combination
// does not depend on the order of arrival. Returns true in the warp that joins everything; `partial` is then
// the partial of the whole input.
__device__ __forceinline__ bool climb_tree(const Tree& tree, const Results& results, Index num_tiles,
                                           Index tile, Partial& partial)
{
    Index level = 0;  // place of the level's first partial
    Index place = tile;
    #pragma unroll 1
    for (Index size = num_tiles; size > 1;) {
        const Index group = place / kWarpThreads;
        const int members = int(min(size - group * kWarpThreads, Index(kWarpThreads)));
        bool last = false;
        if (threadIdx.x % kWarpThreads == 0) {
            write_partial(tree, level + place, partial);
            __threadfence();  // others see the partial before the arrival
            const unsigned most = unsigned(members) - 1u;
            // The last arrival wraps to 0, ready for the next launch.
            last = atomicInc(&tree.arrivals[level + size + group], most) == most;
        }
        if (!__any_sync(kFullMask, last))
            return false;
        __threadfence();  // reads the others' partials after their arrivals
        __syncwarp();     // so that this holds for all lanes
        partial = join_group(tree, results, level + group * kWarpThreads, members);
        level += size;
        size = (size + kWarpThreads - 1) / kWarpThreads;
        place = group;
    }
    return true;
}

// Blocks take tiles of consecutive items by tickets, in order, so that all earlier tiles are done or under
// way. A warp takes a share of each tile, slice by slice. Its lanes load neighbouring items or vectors, fold
// kItems consecutive items each, and combine strictly in the order of the items. The last warp of a block has
// no items. It finds the number of segments that begin before a tile.
//
// This number passes at most some 25 tiles a microsecond. So tiles are large, and no warp waits for it: a
// block finds the heads of its next tile before it folds the current one, and its last warp looks back while
// the others fold. The items of a slice are read while the slice before is folded.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads, 1024 / kMostBlockThreads)
fold_runs(Inputs inputs,
          Segments segments,
          Results results,
          unsigned* ticket,
          volatile unsigned* launches,
          volatile u64* tile_counts,
          State* partial_heads,
          State* partial_tails,
          bool* partial_ends,
          Index* last_segments,
          unsigned* arrivals)
{
    alignas(16) __shared__ State staged_items[kMostWarps * kSliceRoom];
    __shared__ unsigned short marks[2][kMostWarps * kMarks];  // heads of the current tile and the next one
    __shared__ HeldKeys held_keys[kMostWarps];  // heads of the next tile
    // `counts` has the number of heads in each share of the next tile. It is written before a round's first
    // barrier and read behind it. `firsts` has the number of heads in the input before each share, for the
    // current tile and the next one. It is written between the two barriers of the round before its tile is
    // folded. `shares` is written between the two barriers of its tile's own round. Both are read behind the
    // second barrier.
    __shared__ int counts[kMostWarps];
    __shared__ Index firsts[2][kMostWarps];
    __shared__ Shares shares;
    __shared__ Index next_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = block_threads / kWarpThreads - 1;  // warps that fold
    const int share_items = kSliceItems * slices_per_warp;   // items of a warp in a tile
    const int tile_items = share_items * num_warps;
    const Index num_tiles = (segments.num_items - 1) / tile_items + 1;
    // Each block takes one ticket more than it has tiles. The last ticket of all wraps to 0 for the next
    // launch.
    const unsigned last_ticket = unsigned(num_tiles) + gridDim.x - 1u;
    const Tree tree = {partial_heads, partial_tails, partial_ends, last_segments, arrivals};
    const bool is_folding = warp < num_warps;
    State* const staged = staged_items + (is_folding ? warp : 0) * kSliceRoom;
    unsigned short* const places = nullptr;

    if (threadIdx.x == 0)
        next_tile = Index(atomicInc(ticket, last_ticket));
    __syncthreads();  // thread 0 has written the first ticket
    Index next = next_tile;
    if (next >= num_tiles)
        return;
    const unsigned launch = launches[0] + 1u;  // launches[0] changes only after the last tile
    Index tile = num_tiles;                    // the tile that is folded; none in the first round
    int side = 0;                              // which of two buffers belongs to the current tile
    Index next_first = 0;                      // for the last warp: heads before the next tile
    int next_heads = 0;                        // for the last warp: heads in the next tile
    State items[kItems];                       // items of the slice that is folded next

    #pragma unroll 1
    for (;;) {
        const bool has_tile = tile < num_tiles;
        const bool has_next = next < num_tiles;
        const Index first = next_first;
        const int tile_heads = next_heads;
        const Index begin = tile * tile_items + warp * share_items;
        const Index next_begin = next * tile_items + warp * share_items;
        if (is_folding) {
            unsigned short* const next_marks = marks[side ^ 1] + warp * kMarks;
            if (has_tile)
                store_keys(held_keys[warp], marks[side] + warp * kMarks, segments, begin, slices_per_warp,
                           firsts[side][warp]);
            if (has_next) {
                const int own =
                    find_heads(next_marks, held_keys[warp], segments, next_begin, slices_per_warp);
                const int count = warp_scan_counts(own);
                if (lane == kWarpThreads - 1)
                    counts[warp] = count;
            }
        }
        __syncthreads();  // the counts of all shares of the next tile are written

        int num_heads = 0;  // heads in the warp's slices so far
        if (is_folding) {
            State carry = identity();
            Index opener = 0;
            // In the first round there is no tile to fold. Only the first slice of the next tile is read.
            #pragma unroll 1
            for (int slice = has_tile ? 0 : slices_per_warp - 1; slice < slices_per_warp; ++slice) {
                const Index slice_begin = begin + slice * kSliceItems;
                stage_slice(staged, items);
                const bool is_last = slice + 1 == slices_per_warp;
                if (!is_last || has_next)
                    read_slice(items, inputs, segments, is_last ? next_begin : slice_begin + kSliceItems);
                if (!has_tile)
                    break;
                const unsigned heads = marks[side][warp * kMarks + slice * kWarpThreads + lane];
                const int up_to_here = warp_scan_counts(__popc(heads));
                const int slice_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
                __syncwarp();  // all items are staged
                carry = fold_slice(staged, places, heads, up_to_here - __popc(heads), carry);
                __syncwarp();  // all totals are complete
                if (num_heads == 0 && slice_heads > 0 && lane == 0)
                    keep_first_end(shares, staged, places, slice_begin);
                store_slice(results, staged, places, num_heads == 0 ? 1 : 0, slice_heads,
                            firsts[side][warp] + num_heads, slice_begin, opener);
                num_heads += slice_heads;
                __syncwarp();  // all lanes are done with the slice, so the next one may replace it
            }
            if (lane == 0 && has_tile) {
                shares.runs[warp] = {carry, num_heads > 0};
            }
        } else if (!is_folding && has_next) {
            const int count = lane < num_warps ? counts[lane] : 0;
            const int up_to_here = warp_scan_counts(count);
            next_heads = __shfl_sync(kFullMask, up_to_here, kWarpThreads - 1);
            if (lane == 0)
                publish_count(tile_counts, next, word_tag(launch, kTileCount), next_heads);
            next_first = look_back(tile_counts, next, launch);
            if (lane == 0) {
                publish_count(tile_counts, next, word_tag(launch, kPrefixCount), next_first + next_heads);
                next_tile = Index(atomicInc(ticket, last_ticket));
            }
            if (lane < num_warps)
                firsts[side ^ 1][lane] = next_first + up_to_here - count;
        }
        __syncthreads();  // open runs of the shares, and `firsts` of the next tile, are written

        if (is_folding && has_tile && lane == 0 && num_heads > 0)
            store_first_end(results, shares, firsts[side][warp]);
        if (!is_folding && has_tile) {
            Partial partial = join_shares(shares, num_warps);
            partial.last_segment = first + tile_heads - 1;
            if (climb_tree(tree, results, num_tiles, tile, partial) && lane == 0) {
                constexpr Index length = 1;
                store(results, partial.last_segment, length, partial.tail);
                *segments.num_found = partial.last_segment + 1;
                launches[0] = launch;
            }
        }
        if (!has_next)
            return;
        tile = next;
        next = next_tile;
        side ^= 1;
    }
}
