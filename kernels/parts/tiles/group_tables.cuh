//% if table_lanes != 0
//% use parts/reduce/state_pieces.cuh
//% end
// Where the elements that a warp folds come from, and the state and the group of one; -1: it has none.
struct Members;
__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group);

// What the elements of a group have come to.
struct Entry {
    State state;
    //% if uses_length || tells_empty
    Index count;  // of elements
    //% end
};

//% if table_lanes == 0
// The block's table has a word for the state of each group, which threads exchange as a whole; counts stand
// behind.
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
//% end

__device__ __forceinline__ Entry no_elements()
{
    //% if uses_length || tells_empty
    return {identity(), 0};
    //% else
    return {identity()};
    //% end
}

// An entry and `count` elements behind those of it.
__device__ __forceinline__ Entry longer_entry(const Entry& entry, State state, Index count)
{
    //% if uses_length || tells_empty
    return {combine(entry.state, state), entry.count + count};
    //% else
    return {combine(entry.state, state)};
    //% end
}

__device__ __forceinline__ Entry join_entries(const Entry& earlier, const Entry& later)
{
    //% if uses_length || tells_empty
    return longer_entry(earlier, later.state, later.count);
    //% else
    return longer_entry(earlier, later.state, 0);
    //% end
}

//% if table_lanes == 0
// Empties the block's table.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
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
    __syncthreads();  // the table is empty
}

// Folds an element for each lane into the block's table. Nothing rounds and combine() commutes, so any order
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
//% else
// Empties the warp's tables.
__device__ __forceinline__ void clear_tables(unsigned* table)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll 1
    for (int place = lane; place < kTableGroups * kTableLanes; place += kWarpThreads)
        write_entry(table, place / kTableLanes, place % kTableLanes, no_elements());
    //% if table_lanes == 1
    #pragma unroll 1
    for (int group = lane; group < kTableGroups; group += kWarpThreads)
        table[kTableGroups * kEntryWords + group] = 0;
    //% end
    __syncwarp();  // the tables are empty
}

//% if table_lanes == 1
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
//% else
// Folds an element for each lane into the lane's table.
__device__ __forceinline__ void fold_row(unsigned* table, State state, int group)
{
    const int lane = threadIdx.x % kWarpThreads;
    if (group >= 0)
        write_entry(table, group, lane, longer_entry(read_entry(table, group, lane), state, 1));
}
//% end
//% end

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

//% if table_lanes == 0
__device__ __forceinline__ Entry join_warp_tables(unsigned* tables, int group)
{
    return read_entry(tables, group);
}
//% else
// The entry of a group in all tables of the block, which are `kWarpWords` apart.
__device__ __forceinline__ Entry join_warp_tables(unsigned* tables, int group)
{
    Entry entry = no_elements();
    #pragma unroll 1
    for (int warp = 0; warp < kBlockThreads / kWarpThreads; ++warp) {
        //% if table_lanes == 1
        entry = join_entries(entry, read_entry(tables + warp * kWarpWords, group, 0));
        //% else
        // Neighbouring threads begin with neighbouring lanes, whose banks differ.
        #pragma unroll 1
        for (int k = 0; k < kTableLanes; ++k)
            entry = join_entries(entry,
                                 read_entry(tables + warp * kWarpWords, group, (group + k) % kTableLanes));
        //% end
    }
    return entry;
}
//% end
