// group_parts: Groups in any order, more than tables hold: elements move to parts of neighbouring groups
// Segments given as groups of i32, 32-bit indices.
// block_threads = 256
// chunk_items = 16384
// parts = 64
// rows = 8
// table_groups = 1024
// table_lanes = 1
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
constexpr int kChunkItems = 16384;
constexpr int kParts = 64;
constexpr int kRows = 8;
constexpr int kTableGroups = 1024;
constexpr int kTableLanes = 1;
constexpr int kTileRows = 16;
constexpr int kEntryWords = 1;
constexpr int kWarpWords = 2048;
constexpr int kNumWarps = 8;
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

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.result[segment] = state;
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    return __shfl_sync(kFullMask, state, lane);
}

// Each item has the number of its segment, in any order; a negative one is in none.
struct Segments {
    const Number* numbers;  // [num_items]
    unsigned* outside;      // [1], becomes 1 if a number is not below num_segments
    Index num_items;
    Index num_segments;
};

// The number of an element's group, or -1 if it has none. A number that no group has is noted in
// `is_outside`.
__device__ __forceinline__ Index group_of(const Segments& segments, Index index, bool& is_outside)
{
    const Number number = segments.numbers[index];
    const bool is_inside = unsigned(number) < unsigned(segments.num_segments);
    is_outside |= !is_inside && number >= 0;
    return is_inside ? Index(number) : Index(-1);
}

// Tells the host of a number that no group has.
__device__ __forceinline__ void tell_outside(const Segments& segments, bool is_outside)
{
    if (is_outside)
        atomicOr(segments.outside, 1u);
}

// A state in pieces of 32 bits. A word of 64 bits carries each piece with a mark that the piece has come, so
// a reader of the words knows which pieces have come, and needs no fence.
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

// Where the elements that a warp folds come from, and the state and the group of one; -1: it has none.
struct Members;
__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group);

// What the elements of a group have come to.
struct Entry {
    State state;
};

// A table has an entry for each group, in pieces of four bytes. Lanes that have a table each find the pieces
// of all groups in banks of their own.
__device__ __forceinline__ unsigned* piece_of(unsigned* table, int piece, int group, int lane)
{
    return table + (piece * kTableGroups + group) * kTableLanes + lane;
}

__device__ __forceinline__ Entry read_entry(unsigned* table, int group, int lane)
{
    StatePieces pieces;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        pieces.at[k] = *piece_of(table, k, group, lane);
    return {pieces.state};
}

__device__ __forceinline__ void write_entry(unsigned* table, int group, int lane, const Entry& entry)
{
    const StatePieces pieces = pieces_of(entry.state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        *piece_of(table, k, group, lane) = pieces.at[k];
}

__device__ __forceinline__ Entry no_elements()
{
    return {identity()};
}

// An entry and `count` elements behind those of it.
__device__ __forceinline__ Entry longer_entry(const Entry& entry, State state, Index count)
{
    return {combine(entry.state, state)};
}

__device__ __forceinline__ Entry join_entries(const Entry& earlier, const Entry& later)
{
    return longer_entry(earlier, later.state, 0);
}

// Empties the warp's tables.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < kTableGroups * kTableLanes; place += kWarpThreads)
        write_entry(table, place / kTableLanes, place % kTableLanes, no_elements());
    #pragma unroll 1
    for (int group = lane; group < kTableGroups; group += kWarpThreads)
        table[kTableGroups * kEntryWords + group] = 0;
    __syncwarp();  // the tables are empty
}

// Folds an element for each lane into the warp's table, in lane order. The lanes of a group find each other
// by bits that they set in a word of the group, and join their states by pairs; the first one of them alone
// touches the table.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned* const marks = table + kTableGroups * kEntryWords;
    if (group >= 0)
        atomicOr(marks + group, 1u << lane);
    __syncwarp();  // the bits of all lanes are set
    const unsigned peers = group >= 0 ? marks[group] : 1u << lane;
    unsigned later = peers & (0xfffffffeu << lane);
    if (__any_sync(kFullMask, later != 0)) {
        int rank = __popc(peers & ((1u << lane) - 1));
        while (__any_sync(kFullMask, later != 0)) {
            const int next = later != 0 ? __ffs(later) - 1 : lane;
            const State behind = shuffle(state, next);
            if (later != 0)
                state = combine(state, behind);
            // Lanes of odd rank have been joined to the one before; half of them are left.
            const unsigned even = __ballot_sync(kFullMask, rank % 2 == 0);
            later = rank % 2 == 0 ? later & even : 0;
            rank /= 2;
        }
    }
    __syncwarp();  // all lanes have read the bits
    if (group >= 0 && (peers & ((1u << lane) - 1)) == 0) {
        marks[group] = 0;
        write_entry(table, group, 0, longer_entry(read_entry(table, group, 0), state, __popc(peers)));
    }
    __syncwarp();  // the entries are there for the next row
}

// Loads an element of each row for each lane. Behind the share it is the last one once more, without a group,
// so that all are asked for without a branch.
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

// Folds the elements `begin` to `end` - 1 into the warp's tables. The next rows are under way meanwhile.
__device__ __forceinline__ void fold_members(const Members& members, Index begin, Index end, unsigned* table)
{
    if (begin >= end)
        return;
    State states[kRows];
    int groups[kRows];
    load_group_rows(members, begin, end, states, groups);
    #pragma unroll 1
    for (Index first = begin; first < end; first += kRows * kWarpThreads) {
        State next_states[kRows];
        int next_groups[kRows];
        load_group_rows(members, first + kRows * kWarpThreads, end, next_states, next_groups);
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

// The entry of a group in all tables of the block, which are `kWarpWords` apart.
__device__ __forceinline__ Entry join_warp_tables(unsigned* tables, int group)
{
    Entry entry = no_elements();
    #pragma unroll 1
    for (int warp = 0; warp < kBlockThreads / kWarpThreads; ++warp) {
        entry = join_entries(entry, read_entry(tables + warp * kWarpWords, group, 0));
    }
    return entry;
}

constexpr int kJoinedGroups = 32;  // of a block, which takes them in kJoiningWarps parts of the tables
constexpr int kJoiningWarps = 16;

// Joins the entries `place` of tables `first` to `last` - 1, which are kTableGroups entries long, in their
// order, and stores the result of the group. The whole block calls it; `is_group` holds for lanes that have
// one.
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
    __syncthreads();  // the parts of all warps are there
    if (warp != 0 || !is_group)
        return;
    #pragma unroll 1
    for (int k = 1; k < kJoiningWarps; ++k) {
        total = combine(total, parts[k][lane]);
    }
    store(results, group, 1, total);
}

constexpr int kPartsOfThread = (kParts + kBlockThreads - 1) / kBlockThreads;

// The sum of the values of all earlier threads of the block.
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
    __syncthreads();  // the sums of all warps are there
    Index before = sum - value;
    for (int k = 0; k < warp; ++k)
        before += sums[k];
    __syncthreads();  // all have read the sums, the next call may write its own
    return before;
}

// The share of a block: whole tiles, as many for each block.
__device__ __forceinline__ Index share_of_block(Index num_items)
{
    const Index num_tiles = (num_items + kTileItems - 1) / kTileItems;
    return (num_tiles + gridDim.x - 1) / gridDim.x * kTileItems;
}

// A part is kTableGroups neighbouring groups. Each block counts the elements of its share in each part.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
count_parts(Segments segments, Index* block_counts, Index* num_counted)
{
    extern __shared__ unsigned counts[];
    for (int part = threadIdx.x; part < kParts; part += kBlockThreads)
        counts[part] = 0;
    __syncthreads();  // the counts are zero
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

// A warp takes a part: the count of each block becomes the sum of those of earlier blocks, and part_begins
// gets the sum of all.
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

// One block: sizes of parts become their begins, among elements and among chunks.
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

// The number of earlier elements of the warp's tile in the part of the lane's own; rows are passed in their
// order. `counts` are those of the warp, and all `marks` are zero before and after.
__device__ __forceinline__ int rank_in_part(unsigned* counts, unsigned* marks, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int part = group / kTableGroups;
    if (group >= 0)
        atomicOr(marks + part, 1u << lane);
    __syncwarp();  // the bits of all lanes are set
    const unsigned peers = group >= 0 ? marks[part] : 0;
    const unsigned before = peers & ((1u << lane) - 1);
    const int rank = group >= 0 ? int(counts[part]) + __popc(before) : 0;
    __syncwarp();  // all lanes have read the bits and the counts
    if (group >= 0 && before == 0) {
        marks[part] = 0;
        counts[part] = rank + __popc(peers);
    }
    __syncwarp();  // the counts are there for the next row
    return rank;
}

// A block moves its share to the parts, tile by tile, and keeps the order of elements in each part. A tile is
// put in the order of the parts in shared memory first, so that neighbouring threads write to neighbouring
// places.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
move_items(Inputs inputs, Segments segments, const Index* block_counts, const Index* part_begins,
           State* moved_states, u16* moved_groups)
{
    extern __shared__ u64 room[];
    __shared__ int num_staged;
    Index* const places = (Index*)room;  // where the tile's first element of each part goes
    State* const staged = (State*)(places + kParts);
    unsigned* const staged_groups = (unsigned*)staged + kTileItems * kStatePieces;
    unsigned* const tile_begins = staged_groups + kTileItems;  // of each part
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    unsigned* const all_counts = tile_begins + kParts;
    unsigned* const counts = all_counts + warp * kParts;
    unsigned* const marks = all_counts + (kNumWarps + warp) * kParts;
    for (int part = lane; part < kParts; part += kWarpThreads)
        marks[part] = 0;
    for (int part = threadIdx.x; part < kParts; part += kBlockThreads)
        places[part] = part_begins[part] + block_counts[i64(part) * gridDim.x + blockIdx.x];

    const Index share = share_of_block(segments.num_items);
    const Index begin = min(Index(blockIdx.x) * share, segments.num_items);
    const Index end = min(begin + share, segments.num_items);
    bool is_outside = false;  // count_parts has told
    #pragma unroll 1
    for (Index tile = begin; tile < end; tile += kTileItems) {
        for (int part = lane; part < kParts; part += kWarpThreads)
            counts[part] = 0;
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
        __syncwarp();  // the counts are zero
        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            ranks[row] = rank_in_part(counts, marks, groups[row]);
        __syncthreads();  // the counts of all warps are there

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
        __syncthreads();  // the begins of parts in the tile are there

        #pragma unroll
        for (int row = 0; row < kTileRows; ++row)
            if (groups[row] >= 0) {
                const int part = groups[row] / kTableGroups;
                const int at = tile_begins[part] + counts[part] + ranks[row];
                staged[at] = states[row];
                staged_groups[at] = groups[row];
            }
        __syncthreads();  // the tile is in the order of the parts

        for (int at = threadIdx.x; at < num_staged; at += kBlockThreads) {
            const unsigned group = staged_groups[at];
            const int part = group / kTableGroups;
            const Index to = places[part] + (at - int(tile_begins[part]));
            moved_states[to] = staged[at];
            moved_groups[to] = group % kTableGroups;
        }
        __syncthreads();  // the tile has been moved, the next one may take its place

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

// A block takes a chunk of a part, a warp a share of neighbouring elements of it, as in group_tables.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_chunks(const State* moved_states, const u16* moved_groups, const Index* part_begins,
            const Index* chunk_begins, State* tables)
{
    extern __shared__ unsigned words[];
    const Index chunk = blockIdx.x;
    if (chunk >= chunk_begins[kParts])
        return;
    int part = 0;
    #pragma unroll 1
    for (int behind = kParts; behind - part > 1;) {  // the last part that begins at or before the chunk
        const int middle = (part + behind) / 2;
        if (chunk_begins[middle] <= chunk)
            part = middle;
        else
            behind = middle;
    }
    const Index first = part_begins[part] + (chunk - chunk_begins[part]) * kChunkItems;
    const Index last = min(first + kChunkItems, part_begins[part + 1]);
    const int warp = threadIdx.x / kWarpThreads;
    unsigned* const table = words + warp * kWarpWords;
    clear_tables(table);
    const Index rows = (last - first + kWarpThreads - 1) / kWarpThreads;
    const Index share = (rows + kNumWarps - 1) / kNumWarps * kWarpThreads;
    const Index begin = min(first + warp * share, last);
    fold_members({moved_states, moved_groups}, begin, min(begin + share, last), table);
    __syncthreads();  // the tables of all warps are there

    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        const Entry entry = join_warp_tables(words, group);
        const i64 at = i64(chunk) * kTableGroups + group;
        tables[at] = entry.state;
    }
}

// A block joins the entries of neighbouring groups, a warp those of neighbouring chunks of their part.
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
