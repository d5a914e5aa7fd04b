// run_tiles: Segments found in flags or keys, a tile a block; numbers and long segments by look-back
// Segments given as keys of 4 bytes, 32-bit indices.
// block_threads = 384
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
// Emitted by segfold from kernels/stages/run_tiles.cu; edit that file instead.

using Index = int;
using Key = unsigned;
using u64 = unsigned long long;

constexpr int kBlockThreads = 384;
constexpr int kMostBlockThreads = 384;
constexpr int kItemsPerThread = 16;
constexpr int kSlicesPerWarp = 1;
constexpr int kResidentThreads = 1152;
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

constexpr int kExchanged = kSliceItems;  // places for bits of heads, later for places of heads

// Returns a bit for each of a lane's kItems items of a slice: 1 for a head.
__device__ __forceinline__ unsigned find_heads(unsigned short* exchange, const Segments& segments,
                                               Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    const bool fits = (unsigned long long)segments.keys % sizeof(KeyVector) == 0;
    if (!fits || begin + kSliceItems > segments.num_items)
        return vote_heads(segments, begin);
    KeyVector keys[kKeyRows];
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row)
        keys[row] = reinterpret_cast<const KeyVector*>(segments.keys + begin)[row * kWarpThreads + lane];
    Key before_row = segments.keys[begin > 0 ? begin - 1 : 0];
    #pragma unroll
    for (int row = 0; row < kKeyRows; ++row) {
        unsigned bits = vector_heads(keys[row], before_row);
        bits |= row == 0 && begin + lane == 0 ? 1u : 0u;  // the input's first item is a head
        exchange[row * kWarpThreads + lane] = (unsigned short)bits;
    }
    __syncwarp();  // all lanes have written their bits
    return exchanged_heads(exchange);
}

// A state in pieces of 32 bits. Each piece travels in a word of 64 bits, together with a mark that the piece
// has come. So a reader knows which pieces have come, and needs no fence.
constexpr int kStatePieces = (int(sizeof(State)) + 3) / 4;

union StatePieces {
    State state;
    unsigned at[kStatePieces];
};

__device__ __forceinline__ StatePieces pieces_of(const State& state)
{
    StatePieces pieces;
    pieces.at[kStatePieces - 1] = 0;  // the state may not fill the last piece
    pieces.state = state;
    return pieces;
}

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
constexpr int kPieces = kStatePieces;
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
    return 1;  // store() only tests that a length is not 0
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
        #pragma unroll
        for (int k = 0; k < kLaneBorders; ++k)
            if (lane <= last && k <= num_through && k < lane_borders && mine >= k) {
                const Open open = put_together(words[k]);
                run = k == 0 ? open.state : combine(open.state, run);
            }
        #pragma unroll 1
        for (int delta = 1; delta <= last; delta *= 2) {
            const State earlier_run = shuffle_down(run, delta);
            if (lane + delta <= last)
                run = combine(earlier_run, run);
        }
        total = combine(run, total);  // right only in lane 0
        if (begun != 0) {
            constexpr Index begin = 0;  // not used, because lengths do not matter
            if (lane == 0)
                store(results, segment, length_between(begin, end), total);
            return;
        }
        nearest -= lane_borders * kWarpThreads;
        lane_borders = kLaneBorders;
    }
}

// If a lane reads many bytes at once, 1024 threads are resident, with 64 registers each. Otherwise 1152
// threads are resident, with 56 registers each: four blocks of 288 threads or three of 384. If warps have
// several slices, shared memory has room for fewer blocks.
constexpr int kItemBytes = int(sizeof(State));
constexpr int kReadBytes = kItems * (kItemBytes + int(sizeof(Key)));
constexpr int kMostResident = kSlicesPerWarp > 1 ? 864 : kReadBytes > 160 ? 1024 : kResidentThreads;
constexpr int kSliceMarks = kExchanged;

// A block takes a tile. Each of its warps but the last takes one slice of the tile, or several consecutive
// slices. These warps find the heads and fold, while the last warp finds the number of segments that begin
// before the tile. Then they store the segments that end inside the tile, and the last warp brings the states
// that are open to the tile's borders. If this ends a segment that goes through whole tiles, the last warp
// looks back for the segment's other parts.
//
// Blocks take tiles by tickets, in order, so that all earlier tiles are done or under way. A block nearly
// always gets the tile of its own number, so it reads this tile before its ticket has come.
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
    __shared__ unsigned short exchanges[kMostWarps * kSlicesPerWarp * kSliceMarks];
    __shared__ int counts[kMostWarps];    // heads in each warp's slices
    __shared__ Index firsts[kMostWarps];  // heads in the input before each warp's slices
    __shared__ Shares shares;
    __shared__ Index own_tile;
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int num_warps = kBlockThreads / kWarpThreads - 1;  // warps that fold
    const Index num_tiles = Index(gridDim.x);
    const bool is_folding = warp < num_warps;
    const int first_slice = (is_folding ? warp : 0) * kSlicesPerWarp;

    unsigned launch = 0;  // set in the last warp only
    if (!is_folding) {
        if (lane == 0)
            own_tile = Index(atomicInc(ticket, gridDim.x - 1u));  // wraps to 0, ready for the next launch
        launch = launches[0] + 1u;
        // Reads the words of the nearest borders, so that they are on their way to the cache.
        if (Index(blockIdx.x) >= lane) {
            const Index border = Index(blockIdx.x) - lane;
            (void)border_words[border];
            if (kRest > 0)
                (void)border_rest[2 * border * kRest];
        }
    }
    State items[kItems];
    unsigned heads[kSlicesPerWarp];  // a bit for each of the lane's items: 1 for a head
    int up_to_here[kSlicesPerWarp];  // heads in the slice up to this lane's last item
    Index tile = Index(blockIdx.x);
    Index begin = 0;
    #pragma unroll 1
    for (;;) {
        begin = (tile * num_warps + warp) * (kSlicesPerWarp * kSliceItems);
        if (is_folding) {
            read_slice(items, inputs, segments, begin);
            int count = 0;
            #pragma unroll
            for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
                heads[slice] = find_heads(exchanges + (first_slice + slice) * kSliceMarks, segments,
                                          begin + slice * kSliceItems);
                up_to_here[slice] = warp_scan_counts(__popc(heads[slice]));
                count += up_to_here[slice];
            }
            if (lane == kWarpThreads - 1)
                counts[warp] = count;
        }
        __syncthreads();  // the ticket and the counts of all slices are written
        if (own_tile == tile)
            break;
        tile = own_tile;
    }

    Index first = 0;    // for the last warp: heads before the tile
    int num_heads = 0;  // heads in the warp's slices; for the last warp, in the tile
    if (is_folding) {
        stage_slice(staged_items + first_slice * kSliceRoom, items);
        __syncwarp();  // all items are staged
        State carry = identity();
        #pragma unroll
        for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
            State* const staged = staged_items + (first_slice + slice) * kSliceRoom;
            unsigned short* const places = nullptr;
            const Index slice_begin = begin + slice * kSliceItems;
            const int slice_heads = __shfl_sync(kFullMask, up_to_here[slice], kWarpThreads - 1);
            carry = fold_slice(staged, places, heads[slice], up_to_here[slice] - __popc(heads[slice]), carry);
            __syncwarp();  // all totals are complete
            if (lane == 0 && num_heads == 0 && slice_heads > 0)
                keep_first_end(shares, staged, places, slice_begin);
            num_heads += slice_heads;
        }
        if (lane == 0) {
            shares.runs[warp] = {carry, num_heads > 0};
        }
    } else {
        const int count = lane < num_warps ? counts[lane] : 0;
        const int up_to_share = warp_scan_counts(count);
        num_heads = __shfl_sync(kFullMask, up_to_share, kWarpThreads - 1);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kTileCount), num_heads);
        first = look_back(tile_counts, tile, launch);
        if (lane == 0)
            publish_count(tile_counts, tile, word_tag(launch, kPrefixCount), first + num_heads);
        if (lane < num_warps)
            firsts[lane] = first + up_to_share - count;
    }
    __syncthreads();  // open runs of the shares, and `firsts`, are written

    if (is_folding) {
        int earlier = 0;  // heads in the warp's earlier slices
        Index opener = 0;
        #pragma unroll
        for (int slice = 0; slice < kSlicesPerWarp; ++slice) {
            State* const staged = staged_items + (first_slice + slice) * kSliceRoom;
            unsigned short* const places = nullptr;
            const Index slice_begin = begin + slice * kSliceItems;
            const int slice_heads = __shfl_sync(kFullMask, up_to_here[slice], kWarpThreads - 1);
            store_slice(results, staged, places, earlier == 0 ? 1 : 0, slice_heads, firsts[warp] + earlier,
                        slice_begin, opener);
            unsigned short* const own_places = exchanges + (first_slice + slice) * kSliceMarks;
            store_slice_keys(own_places, segments, heads[slice],
                             up_to_here[slice] - __popc(heads[slice]), slice_heads, slice_begin,
                             firsts[warp] + earlier);
            earlier += slice_heads;
        }
        if (lane == 0 && num_heads > 0)
            store_first_end(results, shares, firsts[warp]);
        return;
    }

    const Partial partial = join_shares(shares, num_warps);
    const Borders borders = {border_words, border_rest};
    constexpr Index last_head = 0;  // not used, because lengths do not matter
    constexpr Index first_head = 0;
    const Index last_segment = first + num_heads - 1;
    const bool is_last = tile == num_tiles - 1;
    const bool is_through = !partial.ends && !is_last;
    const bool looks_back = !is_through && tile > 0 && is_long(first, tile - 1);
    // Lanes 0 and 1 take one border each, so that they wait for memory at the same time.
    Meeting meeting = {};
    const bool is_before = lane == 0;  // true if the tile lies before the lane's border, false if behind it
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
        launches[0] = launch;  // all blocks have read it: the count of this tile includes theirs
    }
    // At most one border of a tile ends a segment that goes through whole tiles: the border behind a tile
    // without a head, or the border before a tile with a head.
    const unsigned closing = __ballot_sync(kFullMask, meeting.is_known && meeting.goes_through);
    if (closing == 0 && !looks_back)
        return;
    const int closer = looks_back ? 1 : __ffs(int(closing)) - 1;
    const Index nearest = looks_back ? tile - 1 : __shfl_sync(kFullMask, border, closer) - 1;
    const int lane_borders = looks_back && first * kWarpThreads <= tile ? kLaneBorders : 1;
    constexpr Index end = 0;
    close_segment(borders, results, nearest, lane_borders, launch, __shfl_sync(kFullMask, segment, closer),
                  shuffle(total, closer), end);
}
