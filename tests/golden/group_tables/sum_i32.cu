// group_tables: Groups in any order: tables of states in shared memory, for each block, warp or lane
// Segments given as groups of i32, 32-bit indices.
// block_threads = 256
// rows = 8
// table_groups = 1024
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
using u64 = unsigned long long;
using Number = int;

constexpr int kBlockThreads = 256;
constexpr int kRows = 8;
constexpr int kTableGroups = 1024;
constexpr int kTableWarps = 8;
constexpr int kBlockTables = 1;
constexpr int kTableWords = 1024;
constexpr int kWarpThreads = 32;

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

// Each table takes a share of consecutive elements, and neighbouring lanes take neighbouring elements of the
// share.
// All warps of a block change its one table atomically, in no fixed order.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_tables(Inputs inputs,
            Segments segments,
            State* tables,
            Index* num_tables)
{
    extern __shared__ u64 words[];
    const int which = threadIdx.x / kWarpThreads / kTableWarps;
    unsigned* const table = (unsigned*)words + which * kTableWords;
    clear_tables(table);

    const Index num_shares = Index(gridDim.x) * kBlockTables;
    const Index all_rows = (segments.num_items + kWarpThreads - 1) / kWarpThreads;
    const Index share = (all_rows + num_shares - 1) / num_shares * kWarpThreads;
    const Index begin = min((Index(blockIdx.x) * kBlockTables + which) * share, segments.num_items);
    const Index end = min(begin + share, segments.num_items);
    bool is_outside = false;
    fold_members({inputs, segments, is_outside}, begin, end, table);
    tell_outside(segments, is_outside);
    __syncthreads();  // the tables are complete

    for (int group = threadIdx.x; group < segments.num_segments; group += kBlockThreads) {
        const Entry entry = join_warp_tables((unsigned*)words, group);
        const i64 at = i64(blockIdx.x) * kTableGroups + group;
        tables[at] = entry.state;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *num_tables = gridDim.x;
}

// Joins the tables of all blocks. A block takes the entries of neighbouring groups, and each of its warps
// takes some neighbouring tables.
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
