// group_parts: Groups in any order, more than tables hold: elements move to parts of neighbouring groups
// Segments given as groups of i32, 32-bit indices.
// block_threads = 256
// chunk_items = 65536
// parts = 32
// rows = 8
// table_groups = 2048
// tile_rows = 16
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/group_parts.cu; edit that file instead.

using Index = int;
using u16 = unsigned short;
using i64 = long long;
using u64 = unsigned long long;
using Number = int;

constexpr int kBlockThreads = 256;
constexpr int kChunkItems = 65536;
constexpr int kParts = 32;
constexpr int kRows = 8;
constexpr int kTableGroups = 2048;
constexpr int kTileRows = 16;
constexpr int kNumWarps = 8;
constexpr int kTableWarps = 8;
constexpr int kBlockTables = 1;
constexpr int kTableWords = 2048;
constexpr int kTileItems = 4096;
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

// The same with what others have put to `total`, in whatever order they come.
__device__ __forceinline__ void atomic_combine(State* total, State state)
{
    atomicAdd(total, state);
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
}

// Each item has the number of its segment, so the items of a segment may lie anywhere. An item with a
// negative number belongs to no segment.
struct Segments {
    const Number* numbers;  // [num_items]
    unsigned* outside;      // [1], becomes 1 if a number is not below num_segments
    Index num_items;
    Index num_segments;
};

// Returns the number of an element's group, or -1 if it has none. Sets `is_outside` if its number is not
// negative and no group has it.
__device__ __forceinline__ Index group_of(const Segments& segments, Index index, bool& is_outside)
{
    const Number number = segments.numbers[index];
    const bool is_inside = unsigned(number) < unsigned(segments.num_segments);
    is_outside |= !is_inside && number >= 0;
    return is_inside ? Index(number) : Index(-1);
}

// Reports to the host that an element has a number that no group has.
__device__ __forceinline__ void tell_outside(const Segments& segments, bool is_outside)
{
    if (is_outside)
        atomicOr(segments.outside, 1u);
}

// The source of the elements that a warp folds. load_member() gets the state of element `index` and its
// group, or -1 if it has no group. The stage defines both.
struct Members;
__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group);

// An entry of a table: the total of a group's elements.
struct Entry {
    State state;
};

// The block's table has a word for the state of each group, which threads change atomically. The counts of
// elements lie behind the words.
using StateWord = unsigned;
union StateBits {
    State state;
    StateWord word;
};

__device__ __forceinline__ Entry read_entry(unsigned* table, int group)
{
    StateBits bits;
    bits.word = ((StateWord*)table)[group];
    return {bits.state};
}

// Empties the block's table.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
    StateBits bits;
    bits.word = 0;  // the state may not fill the word
    bits.state = identity();
    #pragma unroll 1
    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        ((StateWord*)table)[group] = bits.word;
    }
    __syncthreads();  // the table is empty
}

// Folds one element of each lane into the block's table. Nothing rounds and combine() commutes, so any order
// gives the same bits. An element that changes nothing writes nothing.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    if (group < 0)
        return;
    atomic_combine((State*)table + group, state);
}

// Loads one element of each row for each lane. Behind the share's end, its last element is loaded again and
// has no group, so that no branch separates the loads.
__device__ __forceinline__ void load_group_rows(const Members& members, Index first, Index end,
                                                State (&states)[kRows], int (&groups)[kRows])
{
    #pragma unroll
    for (int row = 0; row < kRows; ++row) {
        const Index index = first + row * kWarpThreads + threadIdx.x % kWarpThreads;
        load_member(members, min(index, end - 1), states[row], groups[row]);
        if (index >= end)
            groups[row] = -1;
    }
}

// Folds the elements `begin` to `end` - 1 into a table. The table's warps take tiles in order. The next tile
// is loaded while this one is folded.
__device__ __forceinline__ void fold_members(const Members& members, Index begin, Index end, unsigned* table)
{
    const int member = threadIdx.x / kWarpThreads % kTableWarps;
    Index first = begin + member * (kRows * kWarpThreads);
    if (first >= end)
        return;
    State states[kRows];
    int groups[kRows];
    load_group_rows(members, first, end, states, groups);
    #pragma unroll 1
    for (; first < end; first += kTableWarps * kRows * kWarpThreads) {
        State next_states[kRows];
        int next_groups[kRows];
        load_group_rows(members, first + kTableWarps * kRows * kWarpThreads, end, next_states, next_groups);
        #pragma unroll
        for (int row = 0; row < kRows; ++row)
            fold_row(table, states[row], groups[row]);
        #pragma unroll
        for (int row = 0; row < kRows; ++row) {
            states[row] = next_states[row];
            groups[row] = next_groups[row];
        }
    }
}

// Joins the entries of a group in all tables of the block, which are `kTableWords` apart.
__device__ __forceinline__ Entry join_warp_tables(unsigned* tables, int group)
{
    return read_entry(tables, group);
}

constexpr int kJoinedGroups = 32;  // groups of a block; each of its warps takes a part of the tables
constexpr int kJoiningWarps = 16;

// Joins entry `place` of the tables `first` to `last` - 1 in order, and stores the result of the group. A
// table has kTableGroups entries. The whole block calls it. `is_group` is false in lanes without a group.
__device__ __forceinline__ void join_group_tables(const Results& results, const State* tables,
                                                  Index first, Index last, int place, Index group,
                                                  bool is_group)
{
    __shared__ State parts[kJoiningWarps][kJoinedGroups];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const Index share = (last - first + kJoiningWarps - 1) / kJoiningWarps;
    const Index begin = min(first + share * warp, last);
    const Index end = min(begin + share, last);
    State total = identity();
    if (is_group) {
        #pragma unroll 4
        for (Index table = begin; table < end; ++table) {
            const i64 at = i64(table) * kTableGroups + place;
            total = combine(total, tables[at]);
        }
    }
    parts[warp][lane] = total;
    __syncthreads();  // the parts of all warps are written
    if (warp != 0 || !is_group)
        return;
    #pragma unroll 1
    for (int k = 1; k < kJoiningWarps; ++k) {
        total = combine(total, parts[k][lane]);
    }
    store(results, group, 1, total);
}

constexpr int kPartsOfThread = (kParts + kBlockThreads - 1) / kBlockThreads;

// Returns the sum of the values of all earlier threads of the block.
__device__ __forceinline__ Index sum_before(Index value)
{
    __shared__ Index sums[kNumWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    Index sum = value;
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const Index earlier = __shfl_up_sync(kFullMask, sum, delta);
        sum += lane >= delta ? earlier : 0;
    }
    if (lane == kWarpThreads - 1)
        sums[warp] = sum;
    __syncthreads();  // the sums of all warps are written
    Index before = sum - value;
    for (int k = 0; k < warp; ++k)
        before += sums[k];
    __syncthreads();  // all threads have read the sums, so the next call may write them
    return before;
}

// Returns the length of a block's share: whole tiles, the same number for each block.
__device__ __forceinline__ Index share_of_block(Index num_items)
{
    const Index num_tiles = (num_items + kTileItems - 1) / kTileItems;
    return (num_tiles + gridDim.x - 1) / gridDim.x * kTileItems;
}

// A part consists of kTableGroups neighbouring groups. Each block counts how many elements of its share
// belong to each part.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
count_parts(Segments segments, Index* block_counts, Index* num_counted)
{
    extern __shared__ unsigned counts[];
    for (int part = threadIdx.x; part < kParts; part += kBlockThreads)
        counts[part] = 0;
    __syncthreads();  // all counts are 0
    const Index share = share_of_block(segments.num_items);
    const Index begin = min(Index(blockIdx.x) * share, segments.num_items);
    const Index end = min(begin + share, segments.num_items);
    bool is_outside = false;
    #pragma unroll 8
    for (Index index = begin + threadIdx.x; index < end; index += kBlockThreads) {
        const Index group = group_of(segments, index, is_outside);
        if (group >= 0)
            atomicAdd(counts + group / kTableGroups, 1u);
    }
    tell_outside(segments, is_outside);
    __syncthreads();  // all elements are counted
    for (int part = threadIdx.x; part < kParts; part += kBlockThreads)
        block_counts[i64(part) * gridDim.x + blockIdx.x] = counts[part];
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *num_counted = gridDim.x;
}

// Each warp takes one part. It replaces the count of each block by the sum of the counts of all earlier
// blocks, and writes the sum of all counts to part_begins.
extern "C" __global__ void __launch_bounds__(32)
scan_blocks(Index* block_counts, const Index* num_counted, Index* part_begins)
{
    const int lane = threadIdx.x;
    const Index num_blocks = *num_counted;
    Index* const counts = block_counts + i64(blockIdx.x) * num_blocks;
    Index before = 0;
    #pragma unroll 1
    for (Index first = 0; first < num_blocks; first += kWarpThreads) {
        const Index block = first + lane;
        const Index count = block < num_blocks ? counts[block] : 0;
        Index sum = count;
        #pragma unroll
        for (int delta = 1; delta < kWarpThreads; delta *= 2) {
            const Index earlier = __shfl_up_sync(kFullMask, sum, delta);
            sum += lane >= delta ? earlier : 0;
        }
        if (block < num_blocks)
            counts[block] = before + sum - count;
        before += __shfl_sync(kFullMask, sum, kWarpThreads - 1);
    }
    if (lane == 0)
        part_begins[blockIdx.x] = before;
}

// One block turns the sizes of parts into two begins for each part: its first element and its first chunk.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_parts(Index* part_begins, Index* chunk_begins)
{
    Index sizes[kPartsOfThread];
    Index num_items = 0;
    Index num_chunks = 0;
    #pragma unroll
    for (int k = 0; k < kPartsOfThread; ++k) {
        const int part = threadIdx.x * kPartsOfThread + k;
        sizes[k] = part < kParts ? part_begins[part] : 0;
        num_items += sizes[k];
        num_chunks += (sizes[k] + kChunkItems - 1) / kChunkItems;
    }
    Index item = sum_before(num_items);
    Index chunk = sum_before(num_chunks);
    #pragma unroll
    for (int k = 0; k < kPartsOfThread; ++k) {
        const int part = threadIdx.x * kPartsOfThread + k;
        if (part < kParts) {
            part_begins[part] = item;
            chunk_begins[part] = chunk;
        }
        item += sizes[k];
        chunk += (sizes[k] + kChunkItems - 1) / kChunkItems;
    }
    if (threadIdx.x == kBlockThreads - 1) {
        part_begins[kParts] = item;
        chunk_begins[kParts] = chunk;
    }
}

// Returns the number of earlier elements of the warp's tile that belong to the same part as the lane's
// element. The warp calls it row by row, in order. In lane k, `count` is the number of elements of part k so
// far.
__device__ __forceinline__ int rank_in_part(int& count, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int part = group / kTableGroups;
    unsigned peers = __ballot_sync(kFullMask, group >= 0);
    unsigned own = peers;  // lanes whose elements belong to the part that this lane counts
    #pragma unroll
    for (int bit = 0; bit < 5; ++bit) {
        const unsigned set = __ballot_sync(kFullMask, part >> bit & 1);
        peers &= part >> bit & 1 ? set : ~set;
        own &= lane >> bit & 1 ? set : ~set;
    }
    const int rank = __shfl_sync(kFullMask, count, part) + __popc(peers & ((1u << lane) - 1));
    count += __popc(own);
    return rank;
}

// A block moves the elements of its share to their parts, tile by tile, and keeps their order within each
// part. It first sorts a tile by part in shared memory, so that neighbouring threads write to neighbouring
// places.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
move_items(Inputs inputs, Segments segments, const Index* block_counts, const Index* part_begins,
           State* moved_states, u16* moved_groups)
{
    extern __shared__ u64 room[];
    __shared__ int num_staged;
    Index* const places = (Index*)room;  // for each part, where its first element of the tile goes
    State* const staged = (State*)(places + kParts);
    unsigned* const staged_groups = (unsigned*)(staged + kTileItems);
    unsigned* const tile_begins = staged_groups + kTileItems;  // for each part, its begin in the sorted tile
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    unsigned* const all_counts = tile_begins + kParts;
    unsigned* const counts = all_counts + warp * kParts;
    for (int part = threadIdx.x; part < kParts; part += kBlockThreads)
        places[part] = part_begins[part] + block_counts[i64(part) * gridDim.x + blockIdx.x];

    const Index share = share_of_block(segments.num_items);
    const Index begin = min(Index(blockIdx.x) * share, segments.num_items);
    const Index end = min(begin + share, segments.num_items);
    bool is_outside = false;  // not used: count_parts has reported it
    #pragma unroll 1
    for (Index tile = begin; tile < end; tile += kTileItems) {
        int count = 0;
        State states[kTileRows];
        int groups[kTileRows];
        int ranks[kTileRows];
        #pragma unroll
        for (int row = 0; row < kTileRows; ++row) {
            const Index index = tile + (warp * kTileRows + row) * kWarpThreads + lane;
            const Index known = min(index, end - 1);
            const Index group = group_of(segments, known, is_outside);
            groups[row] = index < end ? int(group) : -1;
            states[row] = load_item(inputs, known, 0, group);
        }
        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            ranks[row] = rank_in_part(count, groups[row]);
        counts[lane] = count;
        __syncthreads();  // the counts of all warps are written

        Index num_of_parts[kPartsOfThread];
        Index num_of_thread = 0;
        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            unsigned earlier = 0;
            for (int w = 0; w < kNumWarps && part < kParts; ++w) {
                const unsigned count = all_counts[w * kParts + part];
                all_counts[w * kParts + part] = earlier;
                earlier += count;
            }
            num_of_parts[k] = earlier;
            num_of_thread += earlier;
        }
        Index before = sum_before(num_of_thread);
        if (threadIdx.x == kBlockThreads - 1)
            num_staged = int(before + num_of_thread);
        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            if (part < kParts)
                tile_begins[part] = before;
            before += num_of_parts[k];
        }
        __syncthreads();  // the parts' begins in the tile are written

        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            if (groups[row] >= 0) {
                const int part = groups[row] / kTableGroups;
                const int at = tile_begins[part] + counts[part] + ranks[row];
                staged[at] = states[row];
                staged_groups[at] = groups[row];
            }
        __syncthreads();  // the tile is sorted by part

        for (int at = threadIdx.x; at < num_staged; at += kBlockThreads) {
            const unsigned group = staged_groups[at];
            const int part = group / kTableGroups;
            const Index to = places[part] + (at - int(tile_begins[part]));
            moved_states[to] = staged[at];
            moved_groups[to] = group % kTableGroups;
        }
        __syncthreads();  // the tile has been moved, so the next one may replace it

        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            if (part < kParts)
                places[part] += num_of_parts[k];
        }
    }
}

struct Members {
    const State* states;
    const u16* groups;
};

__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group)
{
    state = members.states[index];
    group = members.groups[index];
}

// A block takes one chunk of a part. Each table takes a share of consecutive elements of the chunk, as in
// group_tables.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_chunks(const State* moved_states, const u16* moved_groups, const Index* part_begins,
            const Index* chunk_begins, State* tables)
{
    extern __shared__ u64 words[];
    const Index chunk = blockIdx.x;
    if (chunk >= chunk_begins[kParts])
        return;
    int part = 0;
    #pragma unroll 1
    // Finds the last part that begins at the chunk or before it.
    for (int behind = kParts; behind - part > 1;) {
        const int middle = (part + behind) / 2;
        if (chunk_begins[middle] <= chunk)
            part = middle;
        else
            behind = middle;
    }
    const Index first = part_begins[part] + (chunk - chunk_begins[part]) * kChunkItems;
    const Index last = min(first + kChunkItems, part_begins[part + 1]);
    const int which = threadIdx.x / kWarpThreads / kTableWarps;
    unsigned* const table = (unsigned*)words + which * kTableWords;
    clear_tables(table);
    const Index rows = (last - first + kWarpThreads - 1) / kWarpThreads;
    const Index share = (rows + kBlockTables - 1) / kBlockTables * kWarpThreads;
    const Index begin = min(first + which * share, last);
    fold_members({moved_states, moved_groups}, begin, min(begin + share, last), table);
    __syncthreads();  // the tables are complete

    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        const Entry entry = join_warp_tables((unsigned*)words, group);
        const i64 at = i64(chunk) * kTableGroups + group;
        tables[at] = entry.state;
    }
}

// Joins the tables of all chunks. A block takes the entries of neighbouring groups, and each of its warps
// takes some neighbouring chunks of their part.
extern "C" __global__ void __launch_bounds__(512)
join_tables(Segments segments,
            Results results,
            const State* tables,
            const Index* chunk_begins)
{
    const Index first_group = Index(blockIdx.x) * kJoinedGroups;
    const Index group = first_group + threadIdx.x % kWarpThreads;
    const int part = int(first_group / kTableGroups);
    join_group_tables(results, tables,
                      chunk_begins[part], chunk_begins[part + 1], int(group % kTableGroups), group,
                      group < segments.num_segments);
}
