//% stage   group_tables
//% title   Groups in any order: tables of states in shared memory, for each block, warp or lane
//% source  Joining lanes: Westphal 2015, Voting and Shuffling to Optimize Atomic Operations
//% layout  groups
//% let     counts = uses_length || tells_empty
//% let     entry_words = ceil_div(state_bytes, 4) + counts
//% needs   associative, state_bytes <= 64, !uses_position, !scans, !map, !rows
//% let     wanted = num_segments > 0 ? num_segments : 1024
//% let     few = wanted <= 16 ? 16 : wanted <= 32 ? 32 : wanted <= 64 ? 64 : wanted <= 128 ? 128 : 256
//% let     some = wanted <= 512 ? 512 : wanted <= 1024 ? 1024 : wanted <= 2048 ? 2048 : 4096
//% let     many = wanted <= 4096 ? some : wanted <= 8192 ? 8192 : wanted <= 16384 ? 16384 : 32768
//% let     fitting = wanted <= 256 ? few : many
//% let     is_word = exact_combine && commutative && (state_bytes == 4 || state_bytes == 8)
//% let     is_exact = is_word && (atomic_combine || !counts)
//% let     stamps = 1024
//% let     least_bytes = (fitting * entry_words + 8 * stamps) * 4
//% let     room = is_exact || entry_words == 1 ? block_shared_bytes : block_shared_bytes / 2
//% suits   wanted <= fitting && (fitting <= 1024 || least_bytes <= room) ? 95 : 0
//% tune    table_groups = 1024, 16, 32, 64, 128, 256, 512, 2048, 4096, 8192, 16384, 32768
//% tune    table_lanes = 1, 0, 32
//% tune    in_turns = 0, 1
//% tune    block_threads = 512, 32, 64, 96, 128, 160, 192, 224, 256
//% tune    rows = 8, 4, 16
//% tune    blocks_per_multiprocessor = 8, 1, 2, 3, 4, 6
//% where   num_segments <= table_groups
//% where   in_turns ? table_lanes == 0 : table_lanes == 0 ? is_word : table_lanes == 1 || commutative
//% fits    table_groups == fitting
//% let     is_few = commutative && table_groups * entry_words * 1792 <= block_shared_bytes
//% let     has_many_warps = table_groups <= (entry_words <= 3 ? 1024 : entry_words <= 5 ? 512 : 256)
//% let     each_warp = has_many_warps && !(is_exact && atomic_combine)
//% fits    table_lanes == (is_few ? 32 : each_warp ? 1 : 0)
//% fits    in_turns == (table_lanes == 0 && !is_exact)
//% let     entry_lanes = table_lanes == 32 ? 32 : 1
//% let     state_words = table_groups * entry_lanes * entry_words
//% let     is_wide = table_lanes == 0 && state_words * 12 > block_shared_bytes
//% let     turning_threads = state_words <= 4096 ? 128 : state_words < 32768 || entry_words > 1 ? 256 : 512
//% let     usual_threads = in_turns ? turning_threads : is_wide ? 512 : 256
//% let     warp_words = in_turns ? stamps : table_lanes == 0 ? 0 : state_words + (table_lanes == 1 ? table_groups : 0)
//% let     shared_words = in_turns ? state_words + 1 : table_lanes == 0 ? state_words : 0
//% let     most_threads = table_lanes == 0 && !in_turns ? 512 : (block_shared_bytes / 4 - shared_words) / warp_words * 32
//% fits    block_threads == 32 || block_threads <= min(usual_threads, most_threads)
//% let     num_warps = block_threads / 32
//% let     table_warps = table_lanes == 0 ? num_warps : 1
//% let     block_tables = num_warps / table_warps
//% let     table_words = shared_words + warp_words
//% let     block_bytes = (shared_words + num_warps * warp_words) * 4
//% where   block_bytes <= block_shared_bytes
//% fits    rows == (state_bytes > 8 ? 4 : table_lanes == 32 && block_bytes * 2 > block_shared_bytes ? 16 : 8)
//% fits    table_lanes < 32 || blocks_per_multiprocessor <= 4
//% fits    blocks_per_multiprocessor == 1 || blocks_per_multiprocessor * (block_bytes + 1024) <= block_shared_bytes
//% let     most_blocks = max(1, ceil_div(num_items, block_threads * rows))
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, most_blocks)
//% scratch tables : State[num_blocks * table_groups]
//% if uses_length || tells_empty
//% scratch table_counts : Index[num_blocks * table_groups]
//% end
//% scratch num_tables : Index[1]
//% launch  fold_tables  grid = num_blocks  block = block_threads  shared = block_bytes
//% launch  join_tables  grid = ceil_div(num_segments, 32)  block = 512
//% use     parts/segments/group_numbers.cuh
//% use     parts/tiles/group_tables.cuh
//% use     parts/tiles/join_group_tables.cuh

struct Members {
    const Inputs& inputs;
    const Segments& segments;
    bool& is_outside;
};

__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group)
{
    group = int(group_of(members.segments, index, members.is_outside));
    //% if uses_tables || uses_segment
    // Elements without a group look nothing up.
    state = group >= 0 ? load_item(members.inputs, index, 0, group) : identity();
    //% else
    state = load_item(members.inputs, index, 0, group);
    //% end
}

// Each table takes a share of consecutive elements, and neighbouring lanes take neighbouring elements of the
// share.
//% if table_lanes == 32
// Each lane has a table of its own, so that no two lanes change the same entry. This needs a combine() that
// commutes.
//% elif table_lanes == 0 && !in_turns
// All warps of a block change its one table atomically, in no fixed order.
//% else
// The elements of a group are joined in the order of the input.
//% end
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_tables(Inputs inputs,
            Segments segments,
            State* tables,
            //% if uses_length || tells_empty
            Index* table_counts,
            //% end
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
        //% if uses_length || tells_empty
        table_counts[at] = entry.count;
        //% end
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
            //% if uses_length || tells_empty
            const Index* table_counts,
            //% end
            const Index* num_tables)
{
    const Index group = Index(blockIdx.x) * kJoinedGroups + threadIdx.x % kWarpThreads;
    join_group_tables(results, tables,
                      //% if uses_length || tells_empty
                      table_counts,
                      //% end
                      0, *num_tables, int(group), group, group < segments.num_segments);
}
