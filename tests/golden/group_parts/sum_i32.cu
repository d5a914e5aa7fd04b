// group_parts: Groups in any order, more than tables hold: elements move to parts of neighbouring groups
// Segments given as groups of i32, 32-bit indices.
// block_threads = 256
// chunk_items = 65536
// move_threads = 256
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
constexpr int kMoveThreads = 256;
constexpr int kParts = 32;
constexpr int kRows = 8;
constexpr int kTableGroups = 2048;
constexpr int kTileRows = 16;
constexpr int kTableWarps = 8;
constexpr int kBlockTables = 1;
constexpr int kTableWords = 2048;
constexpr int kMoveWarps = 8;
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

using Moved = State;
constexpr int kPartsOfThread = (kParts + kMoveThreads - 1) / kMoveThreads;
constexpr int kStagedWords = (kTileItems * sizeof(Moved) + 7) / 8;

// Returns the sum of the values of all earlier threads of the block. `sums` is shared memory, which the next
// call may not write before all threads have left this one.
__device__ __forceinline__ Index sum_before(Index* sums, Index value)
{
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
    #pragma unroll
    for (int k = 0; k < kMoveWarps; ++k)
        before += k < warp ? sums[k] : 0;
    return before;
}

// Returns the number of tiles of a block's share. Shares consist of consecutive tiles.
__device__ __forceinline__ Index share_of_block(Index num_items)
{
    const Index num_tiles = (num_items + kTileItems - 1) / kTileItems;
    return (num_tiles + gridDim.x - 1) / gridDim.x;
}

// A part consists of kTableGroups neighbouring groups. Each block counts how many elements of its share
// belong to each part, and writes down the counts at the begin of each tile.
extern "C" __global__ void __launch_bounds__(kMoveThreads)
count_parts(Segments segments, Index* block_begins, Index* tile_begins, Index* num_counted)
{
    extern __shared__ unsigned counts[];
    for (int part = threadIdx.x; part < kParts; part += kMoveThreads)
        counts[part] = 0;
    __syncthreads();  // all counts are 0
    const Index share = share_of_block(segments.num_items);
    const Index num_tiles = (segments.num_items + kTileItems - 1) / kTileItems;
    const Index first_tile = min(Index(blockIdx.x) * share, num_tiles);
    const Index last_tile = min(first_tile + share, num_tiles);
    bool is_outside = false;
    #pragma unroll 1
    for (Index tile = first_tile; tile < last_tile; ++tile) {
        for (int part = threadIdx.x; part < kParts; part += kMoveThreads)
            tile_begins[i64(tile) * kParts + part] = counts[part];
        __syncthreads();  // the counts have been written down
        const Index begin = tile * kTileItems;
        const Index end = min(begin + kTileItems, segments.num_items);
        #pragma unroll 8
        for (Index index = begin + threadIdx.x; index < end; index += kMoveThreads) {
            const Index group = group_of(segments, index, is_outside);
            if (group >= 0)
                atomicAdd(counts + group / kTableGroups, 1u);
        }
        __syncthreads();  // all elements of the tile are counted
    }
    tell_outside(segments, is_outside);
    for (int part = threadIdx.x; part < kParts; part += kMoveThreads)
        block_begins[i64(blockIdx.x) * kParts + part] = counts[part];
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *num_counted = gridDim.x;
}

constexpr int kScanningWarps = 16;

// A block takes 32 parts, a lane each. Its warps share the blocks that have counted. It replaces the count of
// each of them by the sum of the counts of all earlier ones, and writes the sum of all counts to part_begins.
extern "C" __global__ void __launch_bounds__(kScanningWarps * kWarpThreads)
scan_blocks(Index* block_begins, const Index* num_counted, Index* part_begins)
{
    __shared__ Index sums[kScanningWarps][kWarpThreads];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const int part = int(blockIdx.x) * kWarpThreads + lane;
    const Index num_blocks = *num_counted;
    const Index share = (num_blocks + kScanningWarps - 1) / kScanningWarps;
    const Index first = min(warp * share, num_blocks);
    const Index last = min(first + share, num_blocks);
    Index sum = 0;
    #pragma unroll 8
    for (Index block = first; block < last; ++block)
        sum += block_begins[i64(block) * kParts + part];
    sums[warp][lane] = sum;
    __syncthreads();  // the sums of all warps are written
    Index before = 0;
    for (int k = 0; k < warp; ++k)
        before += sums[k][lane];
    #pragma unroll 8
    for (Index block = first; block < last; ++block) {
        const Index count = block_begins[i64(block) * kParts + part];
        block_begins[i64(block) * kParts + part] = before;
        before += count;
    }
    if (warp == kScanningWarps - 1)
        part_begins[part] = before;
}

// One block turns the sizes of parts into two begins for each part: its first element and its first chunk.
extern "C" __global__ void __launch_bounds__(kMoveThreads)
scan_parts(Index* part_begins, Index* chunk_begins)
{
    __shared__ Index item_sums[kMoveWarps];
    __shared__ Index chunk_sums[kMoveWarps];
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
    Index item = sum_before(item_sums, num_items);
    Index chunk = sum_before(chunk_sums, num_chunks);
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
    if (threadIdx.x == kMoveThreads - 1) {
        part_begins[kParts] = item;
        chunk_begins[kParts] = chunk;
    }
}

// Returns the number of earlier elements of the warp's tile that belong to the same part as the lane's
// element. The warp calls it row by row, in order. `counts` holds the warp's number of elements of each part
// so far. Lanes of the same part find each other by the bits of its number.
__device__ __forceinline__ int rank_in_part(u16* counts, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int part = group / kTableGroups;
    unsigned peers = __ballot_sync(kFullMask, group >= 0);
    #pragma unroll
    for (int bit = 1; bit < kParts; bit *= 2) {
        const unsigned set = __ballot_sync(kFullMask, part & bit);
        peers &= part & bit ? set : ~set;
    }
    const unsigned before = peers & ((1u << lane) - 1);
    const int rank = group >= 0 ? counts[part] + __popc(before) : 0;
    __syncwarp();  // all lanes have read the counts
    if (group >= 0 && before == 0)
        counts[part] = u16(rank + __popc(peers));
    __syncwarp();  // the counts are written before the next row
    return rank;
}

// A block moves the elements of a tile to their parts, and keeps their order within each part. It first sorts
// the tile by part in shared memory, so that neighbouring threads write to neighbouring places. All blocks
// together take neighbouring tiles, so that a cache line is filled by blocks that run at the same time.
extern "C" __global__ void __launch_bounds__(kMoveThreads)
move_items(Inputs inputs, Segments segments, const Index* block_begins, const Index* tile_begins,
           const Index* part_begins, Moved* moved_items, u16* moved_groups)
{
    extern __shared__ u64 room[];
    __shared__ Index sums[kMoveWarps];
    __shared__ int num_staged;
    Moved* const staged = (Moved*)room;
    unsigned* const staged_groups = (unsigned*)(room + kStagedWords);
    // For each part, where its first element of the tile goes, less where that element is staged.
    Index* const places = (Index*)(staged_groups + kTileItems);
    u16* const all_counts = (u16*)(places + kParts);
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    u16* const counts = all_counts + warp * kParts;
    const Index share = share_of_block(segments.num_items);
    const Index num_tiles = (segments.num_items + kTileItems - 1) / kTileItems;
    bool is_outside = false;  // not used: count_parts has reported it
    #pragma unroll 1
    for (Index tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        for (int part = lane; part < kParts; part += kWarpThreads)
            counts[part] = 0;
        Index begins[kPartsOfThread];  // where the part's first element of the tile goes
        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            begins[k] = part < kParts ? part_begins[part] + block_begins[i64(tile / share) * kParts + part] +
                                            tile_begins[i64(tile) * kParts + part]
                                      : 0;
        }
        Moved items[kTileRows];
        int groups[kTileRows];
        int ranks[kTileRows];
        #pragma unroll
        for (int row = 0; row < kTileRows; ++row) {
            const Index index = tile * kTileItems + (warp * kTileRows + row) * kWarpThreads + lane;
            const Index known = min(index, segments.num_items - 1);
            const Index group = group_of(segments, known, is_outside);
            groups[row] = index < segments.num_items ? int(group) : -1;
            items[row] = load_item(inputs, known, 0, group);
        }
        __syncwarp();  // all counts are 0
        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            ranks[row] = rank_in_part(counts, groups[row]);
        __syncthreads();  // the counts of all warps are written, and the tile before has been moved

        // Counts become the places at which the elements of a part and a warp are staged.
        int num_of_parts[kPartsOfThread];
        Index num_of_thread = 0;
        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            num_of_parts[k] = 0;
            #pragma unroll
            for (int w = 0; w < kMoveWarps; ++w)
                num_of_parts[k] += part < kParts ? all_counts[w * kParts + part] : 0;
            num_of_thread += num_of_parts[k];
        }
        int before = int(sum_before(sums, num_of_thread));
        if (threadIdx.x == kMoveThreads - 1)
            num_staged = before + int(num_of_thread);
        #pragma unroll
        for (int k = 0; k < kPartsOfThread; ++k) {
            const int part = threadIdx.x * kPartsOfThread + k;
            if (part < kParts) {
                places[part] = begins[k] - before;
                #pragma unroll
                for (int w = 0; w < kMoveWarps; ++w) {
                    const int count = all_counts[w * kParts + part];
                    all_counts[w * kParts + part] = u16(before);
                    before += count;
                }
            }
        }
        __syncthreads();  // the places are written

        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            if (groups[row] >= 0) {
                const int at = counts[groups[row] / kTableGroups] + ranks[row];
                staged[at] = items[row];
                staged_groups[at] = groups[row];
            }
        __syncthreads();  // the tile is sorted by part

        for (int at = threadIdx.x; at < num_staged; at += kMoveThreads) {
            const unsigned group = staged_groups[at];
            const Index to = places[group / kTableGroups] + at;
            moved_items[to] = staged[at];
            moved_groups[to] = u16(group % kTableGroups);
        }
    }
}

struct Members {
    const Moved* items;
    const u16* groups;
};

__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group)
{
    group = members.groups[index];
    state = members.items[index];
}

// A block takes one chunk of a part. Each table takes a share of consecutive elements of the chunk, as in
// group_tables.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_chunks(
            const Moved* moved_items, const u16* moved_groups, const Index* part_begins,
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
    const Members members = {moved_items, moved_groups};
    fold_members(members, begin, min(begin + share, last), table);
    __syncthreads();  // the tables are complete

    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        const Entry entry = join_warp_tables((unsigned*)words, group);
        const i64 at = i64(chunk) * kTableGroups + group;
        tables[at] = entry.state;
    }
}

constexpr int kFewChunks = 16;

// Joins the tables of all chunks. Where parts have few chunks, each thread joins the entries of a group. Else
// a block takes 32 neighbouring groups at a time, and each of its warps takes some neighbouring chunks.
extern "C" __global__ void __launch_bounds__(kJoiningWarps * kJoinedGroups)
join_tables(Segments segments,
            Results results,
            const State* tables,
            const Index* chunk_begins)
{
    constexpr int kGroupsOfBlock = kJoiningWarps * kJoinedGroups;
    const Index first_group = Index(blockIdx.x) * kGroupsOfBlock;
    bool are_few = true;
    #pragma unroll 1
    for (int k = 0; k < kGroupsOfBlock; k += min(kTableGroups, kGroupsOfBlock)) {
        const int part = int((first_group + k) / kTableGroups);
        are_few &= part >= kParts || chunk_begins[part + 1] - chunk_begins[part] <= kFewChunks;
    }
    if (are_few) {
        const Index group = first_group + threadIdx.x;
        if (group >= segments.num_segments)
            return;
        const int part = int(group / kTableGroups);
        const int place = int(group % kTableGroups);
        State total = identity();
        #pragma unroll 4
        for (Index chunk = chunk_begins[part]; chunk < chunk_begins[part + 1]; ++chunk) {
            const i64 at = i64(chunk) * kTableGroups + place;
            total = combine(total, tables[at]);
        }
        store(results, group, 1, total);
        return;
    }
    #pragma unroll 1
    for (int k = 0; k < kGroupsOfBlock; k += kJoinedGroups) {
        const int part = min(int((first_group + k) / kTableGroups), kParts - 1);
        const Index group = first_group + k + threadIdx.x % kWarpThreads;
        join_group_tables(results, tables,
                          chunk_begins[part], chunk_begins[part + 1], int(group % kTableGroups), group,
                          group < segments.num_segments);
        __syncthreads();  // the block's shared memory may be written again
    }
}
