//% if table_lanes != 0 || in_turns
//% use parts/reduce/state_pieces.cuh
//% end
// The source of the elements that a warp folds. load_member() gets the state of element `index` and its
// group, or -1 if it has no group. The stage defines both.
struct Members;
__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group);

// An entry of a table: the total of a group's elements.
struct Entry {
    State state;
    //% if uses_length || tells_empty
    Index count;  // number of these elements
    //% end
};

//% if table_lanes == 0 && !in_turns
// The block's table has a word for the state of each group, which threads change atomically. The counts of
// elements lie behind the words.
//% if state_bytes == 8
using StateWord = u64;
//% else
using StateWord = unsigned;
//% end
union StateBits {
    State state;
    StateWord word;
};

//% if uses_length || tells_empty
__device__ __forceinline__ unsigned* count_of(unsigned* table, int group)
{
    return (unsigned*)((StateWord*)table + kTableGroups) + group;
}

//% end
__device__ __forceinline__ Entry read_entry(unsigned* table, int group)
{
    StateBits bits;
    bits.word = ((StateWord*)table)[group];
    //% if uses_length || tells_empty
    return {bits.state, Index(*count_of(table, group))};
    //% else
    return {bits.state};
    //% end
}
//% else
// A table has an entry for each group, in pieces of four bytes. If each lane has its own table, all pieces of
// a lane lie in its own bank.
__device__ __forceinline__ unsigned* piece_of(unsigned* table, int piece, int group, int lane)
{
    return table + (piece * kTableGroups + group) * kEntryLanes + lane;
}

__device__ __forceinline__ Entry read_entry(unsigned* table, int group, int lane)
{
    StatePieces pieces;
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        pieces.at[k] = *piece_of(table, k, group, lane);
    //% if uses_length || tells_empty
    return {pieces.state, Index(*piece_of(table, kStatePieces, group, lane))};
    //% else
    return {pieces.state};
    //% end
}

__device__ __forceinline__ void write_entry(unsigned* table, int group, int lane, const Entry& entry)
{
    const StatePieces pieces = pieces_of(entry.state);
    #pragma unroll
    for (int k = 0; k < kStatePieces; ++k)
        *piece_of(table, k, group, lane) = pieces.at[k];
    //% if uses_length || tells_empty
    *piece_of(table, kStatePieces, group, lane) = unsigned(entry.count);
    //% end
}

__device__ __forceinline__ Entry no_elements()
{
    //% if uses_length || tells_empty
    return {identity(), 0};
    //% else
    return {identity()};
    //% end
}

// Returns an entry with `count` later elements, whose total is `state`.
__device__ __forceinline__ Entry longer_entry(const Entry& entry, State state, Index count)
{
    //% if uses_length || tells_empty
    return {combine(entry.state, state), entry.count + count};
    //% else
    return {combine(entry.state, state)};
    //% end
}
//% end

//% if table_lanes != 0
__device__ __forceinline__ Entry join_entries(const Entry& earlier, const Entry& later)
{
    //% if uses_length || tells_empty
    return longer_entry(earlier, later.state, later.count);
    //% else
    return longer_entry(earlier, later.state, 0);
    //% end
}

//% end
//% if table_lanes == 0
// Empties the block's table.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
    //% if table_lanes == 0 && !in_turns
    StateBits bits;
    bits.word = 0;  // the state may not fill the word
    bits.state = identity();
    #pragma unroll 1
    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        ((StateWord*)table)[group] = bits.word;
        //% if uses_length || tells_empty
        *count_of(table, group) = 0;
        //% end
    }
    //% else
    #pragma unroll 1
    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads)
        write_entry(table, group, 0, no_elements());
    #pragma unroll 1
    for (int k = threadIdx.x; k < kTableWarps * kStamps + 1; k += kBlockThreads)
        table[kTableGroups * kEntryWords + k] = 0;
    //% end
    __syncthreads();  // the table is empty
}
//% else
// Empties the warp's tables.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < kTableGroups * kEntryLanes; place += kWarpThreads)
        write_entry(table, place / kEntryLanes, place % kEntryLanes, no_elements());
    //% if table_lanes == 1
    #pragma unroll 1
    for (int group = lane; group < kTableGroups; group += kWarpThreads)
        table[kTableGroups * kEntryWords + group] = 0;
    //% end
    __syncwarp();  // the tables are empty
}
//% end

//% if table_lanes == 0 && !in_turns
// Folds one element of each lane into the block's table. Nothing rounds and combine() commutes, so any order
// gives the same bits. An element that changes nothing writes nothing.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    if (group < 0)
        return;
    //% if uses_length || tells_empty
    atomicAdd(count_of(table, group), 1u);
    //% end
    //% if atomic_combine
    atomic_combine((State*)table + group, state);
    //% else
    StateWord* const at = (StateWord*)table + group;
    StateBits seen;
    seen.word = *(volatile StateWord*)at;
    while (true) {
        StateBits joined;
        joined.word = 0;
        joined.state = combine(seen.state, state);
        if (joined.word == seen.word)
            return;
        const StateWord found = atomicCAS(at, seen.word, joined.word);
        if (found == seen.word)
            return;
        seen.word = found;
    }
    //% end
}
//% elif table_lanes == 32
// Folds one element of each lane into the lane's own table.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    if (group >= 0)
        write_entry(table, group, lane, longer_entry(read_entry(table, group, lane), state, 1));
}
//% else
// Joins the states of the lanes in `peers`, whose elements belong to one group, by pairs and in lane order.
// The first of these lanes gets the total.
__device__ __forceinline__ State join_peers(State state, unsigned peers)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned later = peers & (0xfffffffeu << lane);
    int rank = __popc(peers & ((1u << lane) - 1));
    while (__any_sync(kFullMask, later != 0)) {
        const int next = later != 0 ? __ffs(later) - 1 : lane;
        const State behind = shuffle(state, next);
        if (later != 0)
            state = combine(state, behind);
        // Lanes of odd rank have been joined to the lane before them. Lanes of even rank go on.
        const unsigned even = __ballot_sync(kFullMask, rank % 2 == 0);
        later = rank % 2 == 0 ? later & even : 0;
        rank /= 2;
    }
    return state;
}

//% if in_turns
// In each row, joins the states of equal groups in lane order. The first lane of a group gets the total and
// the number of its elements; the group of the other lanes becomes -1.
//
// To find equal groups, each lane exchanges the row's stamp, a number of the row, into a word of its group.
// All lanes of a group but the first find the stamp there. Lanes of other groups that share the word may find
// it too.
__device__ __forceinline__ void join_rows(unsigned* stamps, unsigned stamp, State (&states)[kRows],
                                          int (&groups)[kRows], int (&counts)[kRows])
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned found[kRows];
    #pragma unroll
    for (int row = 0; row < kRows; ++row) {
        found[row] = groups[row] >= 0 ? atomicExch(stamps + groups[row] % kStamps, stamp + row) : 0;
        __syncwarp();  // all lanes have written the stamp of this row
    }
    #pragma unroll
    for (int row = 0; row < kRows; ++row) {
        counts[row] = 1;
        unsigned later = __ballot_sync(kFullMask, found[row] == stamp + row);
        if (later != 0) {
            unsigned peers = 1u << lane;
            while (later != 0) {
                const int group = __shfl_sync(kFullMask, groups[row], __ffs(later) - 1);
                const unsigned equal = __ballot_sync(kFullMask, groups[row] == group);
                peers = groups[row] == group ? equal : peers;
                later &= ~equal;
            }
            states[row] = join_peers(states[row], peers);
            counts[row] = __popc(peers);
            if ((peers & ((1u << lane) - 1)) != 0)
                groups[row] = -1;
        }
    }
}

// Waits for the warp's turn and folds its rows, joined by join_rows(), into the block's table.
__device__ __forceinline__ void fold_in_turn(unsigned* table, unsigned turn, const State (&states)[kRows],
                                             const int (&groups)[kRows], const int (&counts)[kRows])
{
    volatile unsigned* const whose = table + kTableGroups * kEntryWords + kTableWarps * kStamps;
    while (*whose != turn) {
    }
    __threadfence_block();  // sees the changes of earlier turns
    __syncwarp();
    #pragma unroll
    for (int row = 0; row < kRows; ++row) {
        if (groups[row] >= 0)
            write_entry(table, groups[row], 0,
                        longer_entry(read_entry(table, groups[row], 0), states[row], counts[row]));
        __syncwarp();  // the entries are written before the next row
    }
    __threadfence_block();  // later turns see the entries
    __syncwarp();
    if (threadIdx.x % kWarpThreads == 0)
        *whose = turn + 1;
}
//% else
// Folds one element of each lane into the warp's table, in lane order. Each lane sets its bit in a word of
// its group, so that the lanes of a group find each other. They join their states, and only the first of them
// changes the table.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    unsigned* const marks = table + kTableGroups * kEntryWords;
    if (group >= 0)
        atomicOr(marks + group, 1u << lane);
    __syncwarp();  // all lanes have set their bits
    const unsigned peers = group >= 0 ? marks[group] : 1u << lane;
    state = join_peers(state, peers);
    __syncwarp();  // all lanes have read the bits
    if (group >= 0 && (peers & ((1u << lane) - 1)) == 0) {
        marks[group] = 0;
        write_entry(table, group, 0, longer_entry(read_entry(table, group, 0), state, __popc(peers)));
    }
    __syncwarp();  // the entries are written before the next row
}
//% end
//% end

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
    //% if in_turns
    unsigned* const stamps = table + kTableGroups * kEntryWords + member * kStamps;
    unsigned turn = member;
    unsigned stamp = 1;
    //% end
    #pragma unroll 1
    for (; first < end; first += kTableWarps * kRows * kWarpThreads) {
        State next_states[kRows];
        int next_groups[kRows];
        load_group_rows(members, first + kTableWarps * kRows * kWarpThreads, end, next_states, next_groups);
        //% if in_turns
        int counts[kRows];
        join_rows(stamps, stamp, states, groups, counts);
        fold_in_turn(table, turn, states, groups, counts);
        stamp += kRows;
        turn += kTableWarps;
        //% else
        #pragma unroll
        for (int row = 0; row < kRows; ++row)
            fold_row(table, states[row], groups[row]);
        //% end
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
    //% if table_lanes == 0 && !in_turns
    return read_entry(tables, group);
    //% elif table_lanes == 0
    return read_entry(tables, group, 0);
    //% else
    Entry entry = no_elements();
    #pragma unroll 1
    for (int warp = 0; warp < kBlockThreads / kWarpThreads; ++warp) {
        //% if table_lanes == 1
        entry = join_entries(entry, read_entry(tables + warp * kTableWords, group, 0));
        //% else
        // Neighbouring threads begin with the tables of neighbouring lanes, which lie in different banks.
        #pragma unroll 1
        for (int k = 0; k < kEntryLanes; ++k)
            entry = join_entries(entry,
                                 read_entry(tables + warp * kTableWords, group, (group + k) % kEntryLanes));
        //% end
    }
    return entry;
    //% end
}
