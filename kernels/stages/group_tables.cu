//% stage   group_tables
//% title   Groups in any order: tables of states in shared memory, one for each warp or lane
//% source  Joining lanes: Westphal 2015, Voting and Shuffling to Optimize Atomic Operations
//% layout  groups
//% let     counts = uses_length || tells_empty
//% let     entry_words = ceil_div(state_bytes, 4) + counts
//% needs   associative, state_bytes <= 64, !uses_position, !scans, !map, !rows
//% let     wanted = num_segments > 0 ? num_segments : 1024
//% let     few = wanted <= 16 ? 16 : wanted <= 32 ? 32 : wanted <= 64 ? 64 : wanted <= 128 ? 128 : 256
//% let     some = wanted <= 512 ? 512 : wanted <= 1024 ? 1024 : wanted <= 2048 ? 2048 : 4096
//% let     many = wanted <= 4096 ? some : wanted <= 8192 ? 8192 : 16384
//% let     fitting = wanted <= 256 ? few : many
//% let     fitting_bytes = fitting * (entry_words + 1) * 4
//% let     fits = wanted <= fitting && fitting_bytes <= block_shared_bytes
//% suits   !fits ? 0 : fitting_bytes * 6 <= block_shared_bytes ? 95 : 40
//% tune    table_groups = 1024, 16, 32, 64, 128, 256, 512, 2048, 4096, 8192, 16384, 32768
//% tune    table_lanes = 1, 0, 32
//% tune    block_threads = 256, 32, 64, 96, 128, 160, 192, 224, 512
//% tune    rows = 8, 4, 16
//% tune    blocks_per_multiprocessor = 1, 2, 3, 4, 6, 8
//% let     is_exact = exact_combine && commutative && (state_bytes == 4 || state_bytes == 8)
//% where   num_segments <= table_groups
//% fits    wanted <= table_groups
//% fits    table_lanes < 32 || table_groups * entry_words * 896 <= block_shared_bytes
//% where   table_lanes == 0 ? is_exact : table_lanes == 1 || commutative
//% let     mark_words = table_lanes == 1 ? table_groups : 0
//% let     warp_words = table_groups * table_lanes * entry_words + mark_words
//% let     wide_bytes = table_groups * entry_words * 4
//% let     block_bytes = table_lanes == 0 ? wide_bytes : block_threads / 32 * warp_words * 4
//% where   block_bytes <= block_shared_bytes
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
    // What has no group is not looked up.
    state = group >= 0 ? load_item(members.inputs, index, 0, group) : identity();
    //% else
    state = load_item(members.inputs, index, 0, group);
    //% end
}

// A warp takes a share of neighbouring elements, and neighbouring lanes take neighbouring elements of it.
//% if table_lanes == 0
// All warps fold into the table of the block.
//% elif table_lanes == 1
// The elements of a group meet in the order in which they stand.
//% else
// Each lane has a table of its own, so that no two ever touch an entry; combine() commutes.
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
    //% if table_lanes == 0
    extern __shared__ u64 words[];
    //% else
    extern __shared__ unsigned words[];
    //% end
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    //% if table_lanes == 0
    unsigned* const table = (unsigned*)words;
    //% else
    unsigned* const table = words + warp * kWarpWords;
    //% end
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
        //% if uses_length || tells_empty
        table_counts[at] = entry.count;
        //% end
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *num_tables = gridDim.x;
}

// A block joins the entries of neighbouring groups, a warp those of neighbouring tables.
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
