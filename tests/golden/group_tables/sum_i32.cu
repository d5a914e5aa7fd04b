// group_tables: Groups in any order: tables of states in shared memory, one for each warp or lane
// Segments given as groups of i32, 32-bit indices.
// block_threads = 256
// rows = 8
// table_groups = 1024
// table_lanes = 1
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/group_tables.cu; edit that file instead.

using Index = int;
using i64 = long long;
using Number = int;

constexpr int kBlockThreads = 256;
constexpr int kRows = 8;
constexpr int kTableGroups = 1024;
constexpr int kTableLanes = 1;
constexpr int kEntryWords = 1;
constexpr int kWarpWords = 2048;
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

struct Members {
    const Inputs& inputs;
    const Segments& segments;
    bool& is_outside;
};

__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group)
{
    group = int(group_of(members.segments, index, members.is_outside));
    state = load_item(members.inputs, index, 0, group);
}

// A warp takes a share of neighbouring elements, and neighbouring lanes take neighbouring elements of it.
// The elements of a group meet in the order in which they stand.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_tables(Inputs inputs,
            Segments segments,
            State* tables,
            Index* num_tables)
{
    extern __shared__ unsigned words[];
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    unsigned* const table = words + warp * kWarpWords;
    clear_tables(table);

    const Index num_shares = Index(gridDim.x) * kWarps;
    const Index all_rows = (segments.num_items + kWarpThreads - 1) / kWarpThreads;
    const Index share = (all_rows + num_shares - 1) / num_shares * kWarpThreads;
    const Index begin = min((Index(blockIdx.x) * kWarps + warp) * share, segments.num_items);
    const Index end = min(begin + share, segments.num_items);
    bool is_outside = false;
    fold_members({inputs, segments, is_outside}, begin, end, table);
    tell_outside(segments, is_outside);
    __syncthreads();  // the tables of all warps are there

    for (int group = threadIdx.x; group < segments.num_segments; group += kBlockThreads) {
        const Entry entry = join_warp_tables((unsigned*)words, group);
        const i64 at = i64(blockIdx.x) * kTableGroups + group;
        tables[at] = entry.state;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *num_tables = gridDim.x;
}

// A block joins the entries of neighbouring groups, a warp those of neighbouring tables.
extern "C" __global__ void __launch_bounds__(512)
join_tables(Segments segments,
            Results results,
            const State* tables,
            const Index* num_tables)
{
    const Index group = Index(blockIdx.x) * kJoinedGroups + threadIdx.x % kWarpThreads;
    join_group_tables(results, tables,
                      0, *num_tables, int(group), group, group < segments.num_segments);
}
