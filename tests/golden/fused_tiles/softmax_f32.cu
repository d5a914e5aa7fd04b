// fused_tiles: Each warp takes whole segments, tile by tile, and maps them while they are in the caches
// Segments given as offsets, 32-bit indices.
// block_threads = 32
// items_per_thread = 32
//
// Softmax of each segment: exponentials that add up to 1,
//     scaled by the greatest value so that nothing overflows.
// operator softmax(x: f32) -> each f32 {
//   state { greatest: f32 = -inf; sum: f32 = 0 }
//   lift {
//     greatest = isnan(x) ? -inf : x;
//     sum = isnan(x) ? nan : 1;
//   }
//   combine(a, b) {
//     let ahead = b.greatest - a.greatest;
//     let scale = exp(min(ahead > 0 ? -ahead : ahead, 0));
//     greatest = max(a.greatest, b.greatest);
//     sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale;
//   }
//   append(a) {
//     let ahead = x - a.greatest;
//     let scale = exp(-abs(ahead));
//     greatest = max(a.greatest, x);
//     sum = ahead > 0 ? a.sum * scale + 1 : a.sum + (x == a.greatest ? 1 : scale);
//   }
//   map {
//     let share = 1 / sum;
//     result = exp(x - greatest) * share;
//   }
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/fused_tiles.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 32;
constexpr int kItemsPerThread = 32;
constexpr int kEndWeight = 3;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;
constexpr float kInfinity = __builtin_bit_cast(float, 0x7f800000u);
constexpr float kNan = __builtin_bit_cast(float, 0x7fffffffu);

// Returns x and hides its origin from NVRTC, which would fold the minimum or maximum of 0 and -0 to either.
__device__ __forceinline__ float opaque_f32(float x)
{
    auto bits = __builtin_bit_cast(int, x);
    asm("" : "+r"(bits));
    return __builtin_bit_cast(float, bits);
}

struct Inputs {
    const float* x;
};

struct Results {
    float* greatest;
    float* sum;
    float* result;  // of each element
};

struct State {
    float greatest;
    float sum;
};

__device__ __forceinline__ State identity()
{
    return {-kInfinity, 0.0f};
}

__device__ __forceinline__ State lift(float x)
{
    return {isnan(x) ? -kInfinity : x, isnan(x) ? kNan : 1.0f};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    const float ahead = b.greatest - a.greatest;
    const float scale = expf(fminf(opaque_f32(ahead > 0.0f ? -ahead : ahead), 0.0f));
    return {fmaxf(a.greatest, b.greatest), ahead > 0.0f ? a.sum * scale + b.sum : a.sum + b.sum * scale};
}

// The results of one segment.
struct RowResult {
    float greatest;
    float sum;
};

__device__ __forceinline__ RowResult finish_row(Index, Index, State state)
{
    return {state.greatest, state.sum};
}

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    state.greatest = __shfl_up_sync(kFullMask, state.greatest, delta);
    state.sum = __shfl_up_sync(kFullMask, state.sum, delta);
    return state;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.greatest = __shfl_down_sync(kFullMask, state.greatest, delta);
    state.sum = __shfl_down_sync(kFullMask, state.sum, delta);
    return state;
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    state.greatest = __shfl_sync(kFullMask, state.greatest, lane);
    state.sum = __shfl_sync(kFullMask, state.sum, lane);
    return state;
}

constexpr int kMapItems = 4;

// The outputs of one element.
struct Mapped {
    float result;
};

struct alignas(16) MapChunk_x {
    float at[4];
};

// kMapItems consecutive elements of the columns that map reads.
struct MapItems {
    MapChunk_x x[1];
};

// Loads `count` elements from the element at `index` on; the others become zero.
__device__ __forceinline__ MapItems load_map_items(const Inputs& inputs, Index index, int count)
{
    MapItems items = {};
    if (count == kMapItems && (unsigned long long)(inputs.x + index) % alignof(MapChunk_x) == 0) {
        items.x[0] = *(const MapChunk_x*)(inputs.x + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// The values of a segment that map needs.
struct SegmentValues {
    float greatest;
    float share;
};

// Returns the values of a segment whose elements combine to `state`. No result of an operator can be called
// `state`, because this is a keyword of the language.
__device__ __forceinline__ SegmentValues segment_values(Index segment, Index length, State state)
{
    const RowResult results = finish_row(segment, length, state);
    const float greatest = results.greatest;
    const float sum = results.sum;
    const float share = 1.0f / sum;
    return {greatest, share};
}

// What an element gets, from the values of its segment.
__device__ __forceinline__ Mapped map_with_values(float x, float greatest, float share)
{
    return {expf(x - greatest) * share};
}

// Maps element k of `items` with the values of its segment.
__device__ __forceinline__ Mapped map_tile_item(const MapItems& items, int k, const SegmentValues& values,
                                                Index, Index, Index,
                                                Index)
{
    return map_with_values(items.x[k / 4].at[k % 4], values.greatest, values.share);
}

struct alignas(16) OutputChunk_result {
    float at[4];
};

// The outputs of kMapItems consecutive elements.
struct MapOutputs {
    OutputChunk_result result[1];
};

__device__ __forceinline__ void keep_output(MapOutputs& outputs, int k, const Mapped& mapped)
{
    outputs.result[k / 4].at[k % 4] = mapped.result;
}

// Writes the outputs of `count` elements, from the element at `index` on.
__device__ __forceinline__ void store_outputs(const Results& results, Index index, int count,
                                              const MapOutputs& outputs)
{
    if (count == kMapItems
        && (unsigned long long)(results.result + index) % alignof(OutputChunk_result) == 0) {
        *(OutputChunk_result*)(results.result + index) = outputs.result[0];
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                results.result[index + k] = outputs.result[k / 4].at[k % 4];
    }
}

// True if store_vectors() may be called.
__device__ __forceinline__ bool outputs_are_aligned(const Results& results)
{
    return (unsigned long long)results.result % alignof(OutputChunk_result) == 0;
}

// Writes the outputs of all kMapItems elements from the element at `index` on. `index` must be a multiple of
// kMapItems, and all elements must exist.
__device__ __forceinline__ void store_vectors(const Results& results, Index index, const MapOutputs& outputs)
{
    *(OutputChunk_result*)(results.result + index) = outputs.result[0];
}

// Writes the outputs of element k alone, which is the element at `index`.
__device__ __forceinline__ void store_output(const Results& results, Index index, const MapOutputs& outputs,
                                             int k)
{
    results.result[index] = outputs.result[k / 4].at[k % 4];
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// Returns the segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Returns one past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1];
}

constexpr int kProbes = 2;  // ends that a lane tests in a round

// Returns the first segment s with segment_end(s) + weight * (s + 1) >= place, or the last segment if there
// is none. Each half of a warp searches for its own place.
__device__ __forceinline__ Index search_ends(const Segments& segments, long long place, int weight)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    Index low = 0;  // the answer is one of low to high
    Index high = segments.num_segments - 1;
    while (__any_sync(kFullMask, low < high)) {
        const Index step = (high - low) / (kHalf * kProbes) + 1;
        bool before[kProbes];
        #pragma unroll
        for (int k = 0; k < kProbes; ++k) {
            const Index probe = low + (k * kHalf + lane % kHalf) * step;
            before[k] = probe < high && segments.offsets[probe + 1] + (long long)weight * (probe + 1) < place;
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kProbes; ++k)
            count += __popc(__ballot_sync(kFullMask, before[k]) >> lane / kHalf * kHalf & 0xffff);
        if (count > 0) {
            high = min(high, low + count * step);
            low += (count - 1) * step + 1;
        } else {
            high = low;
        }
    }
    return low;
}

// The begin of a share: items before `item` and segments before `segment` belong to earlier shares.
struct Cut {
    Index item;
    Index segment;
};

// Returns the begin of share `share` to the lower half of the warp, and the begin of the next share to the
// upper half. Shares have equal sums of items and weighted ends: an end counts as kEndWeight items.
__device__ __forceinline__ Cut find_cut(const Segments& segments, Index share, Index num_shares)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    const Index mine = share + lane / kHalf;
    // An unsigned division takes fewer instructions.
    const unsigned long long places = segments.num_items + (long long)kEndWeight * segments.num_segments;
    const long long place = (long long)(places * mine / num_shares);
    const Index low = search_ends(segments, place, kEndWeight);
    const long long item = place - (long long)kEndWeight * low;
    Cut cut = {Index(min((long long)segments.offsets[low + 1], item)), low};
    if (mine == num_shares)
        cut = {segments.num_items, segments.num_segments};
    return cut;
}

// Starts a copy of 16 bytes from global to shared memory that bypasses registers and the first-level cache.
// Both addresses must be multiples of 16. This thread may read the copy after wait_for_copies(), and other
// threads after a barrier that follows.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
}

// Starts a copy of 4 bytes from global to shared memory, through the first-level cache. Both addresses must
// be multiples of 4.
__device__ __forceinline__ void copy_word_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared), "l"(from) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}

// Returns the place of byte `byte` of row `row` in shared memory. A row has `row_bytes` bytes, a power of two
// from 4 on. Vectors of 16 bytes are permuted within their row. Lanes that read vector k of their own
// rows then use different banks, and so do lanes that write the vectors of one row.
__device__ __forceinline__ int tile_place(int row, int byte, int row_bytes)
{
    const int vectors = row_bytes / 16;
    const int mask = vectors >= 8 ? row & 7 : row * vectors / 8 & (vectors - 1);
    return row * row_bytes + ((byte / 16 ^ mask) * 16 | byte % 16);
}

// Copies a tile of a column whose array begins in the middle of a vector, or less than a whole tile.
__device__ __forceinline__ void copy_odd_column(char* column, const char* source, int element_bytes,
                                                Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && element_bytes >= 4 && (unsigned long long)source % 4 == 0) {
        #pragma unroll 4
        for (int mine = lane * 4; mine < row_bytes * kWarpThreads; mine += 4 * kWarpThreads) {
            const int row = mine / (element_bytes == 4 ? 4 : 8) / kItemsPerThread;
            copy_word_async(column + tile_place(row, mine - row * row_bytes, row_bytes), source + mine);
        }
        return;
    }
    #pragma unroll 1
    for (int k = lane; k < kItemsPerThread * kWarpThreads; k += kWarpThreads) {
        const int byte_in_row = k % kItemsPerThread * element_bytes;
        char* const to = column + tile_place(k / kItemsPerThread, byte_in_row, row_bytes);
        #pragma unroll 1
        for (int byte = 0; byte < element_bytes; ++byte)
            to[byte] = k < count ? source[k * element_bytes + byte] : char(0);
    }
}

// Starts to copy a warp's tile of one column; each lane will take one row. Only `count` elements exist, which
// may be less than a tile; the other places become zero.
__device__ __forceinline__ void copy_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && (unsigned long long)source % 16 == 0) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads) {
            const int mine = byte + lane * 16;
            if (mine < row_bytes * kWarpThreads)  // rows of 8 bytes have fewer vectors than lanes
                copy_async(column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes), source + mine);
        }
        return;
    }
    copy_odd_column(column, source, element_bytes, count);
}

// Reduces one state per lane to lane 0, in lane order. At every step the left operand covers the lower lanes,
// so combine() need not commute.
__device__ __forceinline__ State warp_reduce(State state)
{
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
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
    #pragma unroll 1
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State earlier = shuffle_up(total, delta);
        if (lane - delta >= first)
            total = combine(earlier, total);
    }
    return total;
}

constexpr int kStepItems = 4;

// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct Tile {
    alignas(16) float x[kItemsPerThread * kWarpThreads];
};

// Starts to copy a tile of elements from `begin` on; elements at `end` and beyond become zero.
__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index end)
{
    copy_column((char*)tile.x, (const char*)(inputs.x + begin), 4, end - begin);
}

struct alignas(16) Chunk_x {
    float at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// Returns the items of this lane's row from step * kStepItems on.
__device__ __forceinline__ Items take_items(const Tile& tile, int step)
{
    const int lane = threadIdx.x % kWarpThreads;
    Items items;
    items.x[0] = *(const Chunk_x*)((const char*)tile.x + tile_place(lane, step * 16, kItemsPerThread * 4));
    return items;
}

// True if load_vectors() may be called.
__device__ __forceinline__ bool is_aligned(const Inputs& inputs)
{
    return (unsigned long long)inputs.x % alignof(Chunk_x) == 0;
}

// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.x[0].at[k]);
}

// Lifts item `item` of a warp's tile, which is the element at `index`.
__device__ __forceinline__ State lift_at(const Inputs&, const Tile& tile, int item, Index)
{
    return lift(*(const float*)((const char*)tile.x
        + tile_place(item / kItemsPerThread, item % kItemsPerThread * 4, kItemsPerThread * 4)));
}

// Returns the items `item` to `item` + kMapItems - 1 of a tile. The first of them is the element at `index`.
// Columns that the tile does not hold are loaded from memory, `count` elements of each.
__device__ __forceinline__ MapItems take_map_items(const Tile& tile, const Inputs&, int item,
                                                   Index, int)
{
    MapItems items = {};
    items.x[0] = *(const MapChunk_x*)((const char*)tile.x
        + tile_place(item / kItemsPerThread, (item % kItemsPerThread) * 4, kItemsPerThread * 4));
    return items;
}

constexpr int kCopies = 1;   // copies of the body of a loop that combines
constexpr int kTileItems = kItemsPerThread * kWarpThreads;
constexpr int kSteps = kItemsPerThread / kStepItems;
constexpr int kMapStride = kMapItems * kWarpThreads;
constexpr int kMapSteps = kTileItems / kMapStride;
constexpr int kAlignment = 16;                  // tiles begin at multiples of 16 items, as vectors do
constexpr int kLaneEnds = kItemsPerThread / 8;  // ends of segments that a lane reads at once
constexpr int kMostEnds = kLaneEnds * kWarpThreads;
constexpr int kSlots = kMostEnds + 2;  // one for each end, one before the first, one behind the last
constexpr Index kNoEnd = Index(~0ull >> (65 - 8 * sizeof(Index)));  // the greatest Index

// A warp's part of shared memory. Slot k belongs to the k-th segment of the tile that has items. Slot 0
// belongs to the items before the tile's first segment.
struct alignas(16) Desk {
    Tile tiles[2];  // one is folded while the next one is copied
    State totals[kSlots];
    SegmentValues values[kSlots];
    Index ends[kSlots];
    unsigned tails[kItemsPerThread];  // a bit for each item of the tile: 1 if a slot ends with it
    int first_slots[kItemsPerThread];  // for each word of `tails`, the slot of its first item
    unsigned char numbers[kSlots];    // the slot's segment, counted from the tile's first segment
};

// How many segments end in a tile.
struct Found {
    int num_segments;
    int num_slots;  // of these, segments that have items
};

// Reads the ends of the segments from `segment` on, kLaneEnds for each lane. Segments from `end_segment` on
// get kNoEnd.
__device__ __forceinline__ void read_ends(Index (&ends)[kLaneEnds], const Segments& segments, Index segment,
                                          Index end_segment)
{
    #pragma unroll
    for (int k = 0; k < kLaneEnds; ++k) {
        const Index mine = segment + k * kWarpThreads + int(threadIdx.x) % kWarpThreads;
        ends[k] = mine < end_segment ? segment_end(segments, mine) : kNoEnd;
    }
}

// Finds the segments that begin at `begin` or later and end in the tile. Stores the results of empty
// segments. For each other segment, writes its end and its number to its slot and sets the bit of its last
// item.
__device__ __forceinline__ Found keep_ends(Desk& desk, const Results& results, const Index (&ends)[kLaneEnds],
                                           Index segment, Index begin, Index tile_begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    __syncwarp();  // all lanes are done with the tile before
    if (lane < kItemsPerThread)
        desk.tails[lane] = 0;
    __syncwarp();  // all bits are 0
    Found found = {0, 0};
    Index before = begin;  // end of the segment before the first one of the round
    #pragma unroll
    for (int k = 0; k < kLaneEnds; ++k) {
        if (found.num_segments < k * kWarpThreads)
            break;
        const Index end = ends[k];
        const Index up = __shfl_up_sync(kFullMask, end, 1);
        const bool is_inside = end <= tile_begin + kTileItems;
        const bool has_items = is_inside && end != (lane == 0 ? before : up);
        const unsigned filled = __ballot_sync(kFullMask, has_items);
        if (has_items) {
            const int slot = 1 + found.num_slots + __popc(filled & ((1u << lane) - 1));
            const int last = int(end - tile_begin) - 1;
            desk.ends[slot] = end;
            desk.numbers[slot] = (unsigned char)(k * kWarpThreads + lane);
            atomicOr(&desk.tails[last / 32], 1u << last % 32);
        }
        before = __shfl_sync(kFullMask, end, kWarpThreads - 1);
        found.num_segments += __popc(__ballot_sync(kFullMask, is_inside));
        found.num_slots += __popc(filled);
    }
    if (lane == 0) {
        desk.ends[0] = begin;
        desk.ends[found.num_slots + 1] = kNoEnd;
        desk.numbers[0] = 0;
        desk.numbers[found.num_slots + 1] = 0;
        if (begin > tile_begin)
            atomicOr(&desk.tails[0], 1u << int(begin - tile_begin - 1));
    }
    return found;
}

// Lifts item k of `items`, which is the item at `place` of the input.
__device__ __forceinline__ State lift_at(const Inputs& inputs, const Segments& segments, const Items& items,
                                         int k, Index place)
{
    return lift_item(inputs, items, k, place);
}

// Folds a tile: each lane folds kItemsPerThread consecutive items. The run at the last item of a segment is
// the segment's total. If the segment began in an earlier lane, the run of the lanes before is joined in
// front. Also writes the slot of the first item of each word of `tails`.
__device__ __forceinline__ void fold_tile(Desk& desk, const Tile& tile, const Inputs& inputs,
                                          const Segments& segments, Index tile_begin, Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row = lane * kItemsPerThread;
    const unsigned tails = desk.tails[row / 32] >> row % 32 & kFullMask >> (32 - kItemsPerThread);
    int slot = __popc(tails);
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, slot, delta);
        slot += lane >= delta ? earlier : 0;
    }
    slot += (begin > tile_begin ? 0 : 1) - __popc(tails);
    const int first = slot;  // slot of the row's first item
    if (row % 32 == 0)
        desk.first_slots[row / 32] = slot;
    State run = identity();
    #pragma unroll kCopies
    for (int step = 0; step < kSteps; ++step) {
        const Items items = take_items(tile, step);
        const unsigned its_tails = tails >> step * kStepItems;
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const Index place = tile_begin + row + step * kStepItems + k;
            run = combine(run, lift_at(inputs, segments, items, k, place));
            if (its_tails >> k & 1) {
                desk.totals[slot] = run;
                ++slot;
                run = identity();
            }
        }
    }
    const unsigned lanes = __ballot_sync(kFullMask, tails != 0);
    const State before = shuffle_up(warp_scan_tails(run, lanes), 1);
    if (lane > 0 && tails != 0)
        desk.totals[first] = combine(before, desk.totals[first]);
}

// Finishes the totals of the tile's segments, and keeps the values that map needs. Items outside of these
// segments get the values of the first or last segment. So they are mapped like others, and their outputs are
// not stored.
__device__ __forceinline__ void finish_tile(Desk& desk, const Results& results, Index segment, int num_slots)
{
    #pragma unroll 1
    for (int slot = 1 + int(threadIdx.x) % kWarpThreads; slot <= num_slots; slot += kWarpThreads) {
        const Index length = desk.ends[slot] - desk.ends[slot - 1];
        const Index its_segment = segment + desk.numbers[slot];
        const State total = desk.totals[slot];
        const SegmentValues its_values = segment_values(its_segment, length, total);
        desk.values[slot] = its_values;
        if (slot == 1)
            desk.values[0] = its_values;
        if (slot == num_slots)
            desk.values[slot + 1] = its_values;
    }
}

// Maps the items of a tile from `begin` to `end` - 1. Neighbouring lanes take neighbouring vectors.
__device__ __forceinline__ void map_tile(const Desk& desk, const Tile& tile, const Inputs& inputs,
                                         const Segments& segments, const Results& results, bool is_aligned,
                                         Index tile_begin, Index begin, Index end, Index segment)
{
    #pragma unroll
    for (int step = 0; step < kMapSteps; ++step) {
        const int item = step * kMapStride + int(threadIdx.x) % kWarpThreads * kMapItems;
        const Index place = tile_begin + item;
        const MapItems items = take_map_items(tile, inputs, item, place,
                                              int(min(segments.num_items - place, Index(kMapItems))));
        const unsigned tails = desk.tails[item / 32];
        int slot = desk.first_slots[item / 32] + __popc(tails & ((1u << item % 32) - 1));
        MapOutputs outputs;
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k) {
            const Index its_begin = slot == 0 ? tile_begin : desk.ends[slot - 1];
            keep_output(outputs, k,
                        map_tile_item(items, k, desk.values[slot], place + k, place + k - its_begin,
                                 segment + desk.numbers[slot], desk.ends[slot] - its_begin));
            slot += tails >> (item % 32 + k) & 1;
        }
        if (is_aligned && place >= begin && place + kMapItems <= end) {
            store_vectors(results, place, outputs);
        } else {
            #pragma unroll
            for (int k = 0; k < kMapItems; ++k)
                if (place + k >= begin && place + k < end)
                    store_output(results, place + k, outputs, k);
        }
    }
}

// Folds and maps a segment that is longer than a tile. The whole warp folds it tile by tile, then reads it
// once more to map it. Structs are passed by value: if their addresses were taken, all their members would be
// read from local memory.
__device__ __noinline__ void take_long(Tile& tile, Inputs inputs, Segments segments, Results results,
                                       Index segment)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index begin = segment_begin(segments, segment);
    const Index end = segment_end(segments, segment);
    const Index first_tile = begin - begin % kAlignment;
    State total = identity();  // right only in lane 0
    #pragma unroll 1
    for (Index tile_begin = first_tile; tile_begin < end; tile_begin += kTileItems) {
        copy_tile(tile, inputs, tile_begin, segments.num_items);
        wait_for_copies();
        __syncwarp();  // the tile has been copied
        State run = identity();
        #pragma unroll 1
        for (int step = 0; step < kSteps; ++step) {
            const Items items = take_items(tile, step);
            #pragma unroll
            for (int k = 0; k < kStepItems; ++k) {
                const Index place = tile_begin + lane * kItemsPerThread + step * kStepItems + k;
                if (place >= begin && place < end)
                    run = combine(run, lift_item(inputs, items, k, place));
            }
        }
        total = combine(total, warp_reduce(run));
        __syncwarp();  // all lanes have read the tile
    }
    total = shuffle(total, 0);
    const Index length = end - begin;
    const SegmentValues its_values = segment_values(segment, length, total);
    #pragma unroll 1
    for (Index place = first_tile + lane * kMapItems; place < end; place += kMapStride) {
        const Index first = max(place, begin);
        const int count = int(max(min(place + kMapItems, end) - first, Index(0)));
        const MapItems items = load_map_items(inputs, first, count);
        MapOutputs outputs = {};
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                keep_output(outputs, k,
                            map_tile_item(items, k, its_values, first + k, first + k - begin, segment,
                                          length));
        if (count > 0)
            store_outputs(results, first, count, outputs);
    }
}

// A warp takes the segments that end in its share of the items, so that no segment is cut. A tile holds as
// many whole segments as fit. The next tile is copied to shared memory while this one is folded and mapped.
// Totals and the values that map needs stay in shared memory, so an element is read from memory once.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs, Segments segments, Results results)
{
    __shared__ Desk desks[kBlockThreads / kWarpThreads];
    const int num_warps = kBlockThreads / kWarpThreads;
    Desk& desk = desks[threadIdx.x / kWarpThreads];
    const Cut cut = find_cut(segments, Index(blockIdx.x) * num_warps + threadIdx.x / kWarpThreads,
                             Index(gridDim.x) * num_warps);
    Index segment = __shfl_sync(kFullMask, cut.segment, 0);
    const Index end_segment = __shfl_sync(kFullMask, cut.segment, kWarpThreads - 1);
    if (segment >= end_segment)
        return;
    Index begin = segment_begin(segments, segment);
    Index tile_begin = begin - begin % kAlignment;
    Index ends[kLaneEnds];
    read_ends(ends, segments, segment, end_segment);
    copy_tile(desk.tiles[0], inputs, tile_begin, segments.num_items);
    const bool is_aligned = outputs_are_aligned(results);
    int turn = 0;
    #pragma unroll 1
    while (segment < end_segment) {
        const Found found = keep_ends(desk, results, ends, segment, begin, tile_begin);
        wait_for_copies();
        __syncwarp();  // the tile has been copied, and its ends are written
        // If no segment ends in the tile, its first segment is longer than a tile and is taken alone.
        const Index next = segment + max(found.num_segments, 1);
        const Index end =
            found.num_segments > 0 ? desk.ends[found.num_slots] : segment_end(segments, segment);
        const Index next_tile = end - end % kAlignment;
        read_ends(ends, segments, next, end_segment);
        if (next < end_segment)
            copy_tile(desk.tiles[turn ^ 1], inputs, next_tile, segments.num_items);
        if (found.num_slots > 0) {
            fold_tile(desk, desk.tiles[turn], inputs, segments, tile_begin, begin);
            __syncwarp();  // all totals are written
            finish_tile(desk, results, segment, found.num_slots);
            __syncwarp();  // all values are written
            map_tile(desk, desk.tiles[turn], inputs, segments, results, is_aligned, tile_begin, begin,
                     end, segment);
        } else if (found.num_segments == 0) {
            take_long(desk.tiles[turn], inputs, segments, results, segment);
        }
        segment = next;
        begin = end;
        tile_begin = next_tile;
        turn ^= 1;
    }
}
