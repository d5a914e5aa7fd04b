//% stage   group_parts
//% title   Groups in any order, more than tables hold: elements move to parts of neighbouring groups
//% after   group_tables
//% source  Stable partition: Satish, Harris & Garland 2009
//% layout  groups
//% let     counts = uses_length || tells_empty
//% let     entry_words = ceil_div(state_bytes, 4) + counts
//% needs   associative, state_bytes <= 32, !uses_position, !scans, !map, !rows
//% let     moved_bytes = moves_columns ? columns_bytes : state_bytes
//% let     wanted = num_segments > 0 ? num_segments : 65536
//% let     is_word = exact_combine && commutative && (state_bytes == 4 || state_bytes == 8)
//% let     is_exact = is_word && (atomic_combine || !counts)
//% let     held = entry_words <= 1 ? 8192 : entry_words <= 3 ? 4096 : entry_words <= 5 ? 2048 : 1024
//% let     most_parts = 1024
//% suits   wanted <= held * most_parts ? 70 : 0
//% tune    table_groups = 1024, 64, 256, 512, 2048, 4096, 8192
//% tune    parts = 1024, 32, 64, 128, 256, 512
//% tune    table_lanes = 1, 0
//% tune    in_turns = 0, 1
//% tune    block_threads = 256, 64, 128
//% tune    move_threads = 256, 64, 128, 512
//% tune    rows = 8, 4
//% tune    tile_rows = 16, 4, 8
//% tune    chunk_items = 65536, 1024, 4096, 16384
//% tune    blocks_per_multiprocessor = 4, 1, 2, 3
//% where   num_segments <= table_groups * parts
//% where   in_turns ? table_lanes == 0 : table_lanes == 1 || is_word
//% let     thirtieth = ceil_div(wanted, 32)
//% let     least = thirtieth <= 256 ? 256 : thirtieth <= 512 ? 512 : thirtieth <= 1024 ? 1024 : 2048
//% let     large = min(held, thirtieth <= 2048 ? least : thirtieth <= 4096 ? 4096 : 8192)
//% let     small = thirtieth <= 256 ? 256 : wanted <= 262144 ? 512 : wanted <= 524288 ? 1024 : held
//% fits    table_groups == (entry_words == 1 || is_exact ? large : min(held, small))
//% let     has_many_warps = table_groups <= (entry_words <= 5 ? 1024 : 256)
//% fits    table_lanes == (has_many_warps && !is_exact)
//% fits    in_turns == (table_lanes == 0 && !is_exact)
//% let     needed = ceil_div(wanted, table_groups)
//% let     few = needed <= 32 ? 32 : needed <= 64 ? 64 : 128
//% fits    parts == (needed <= 128 ? few : needed <= 256 ? 256 : needed <= 512 ? 512 : 1024)
//% fits    rows == (state_bytes > 8 ? 4 : 8)
//% fits    num_elements == 0 || chunk_items == 1024 || chunk_items <= num_elements / 1024
//% let     entry_lanes = 1
//% let     stamps = 1024
//% let     state_words = table_groups * entry_words
//% let     num_warps = block_threads / 32
//% let     table_warps = table_lanes == 0 ? num_warps : 1
//% let     block_tables = num_warps / table_warps
//% let     shared_words = in_turns ? state_words + 1 : table_lanes == 0 ? state_words : 0
//% let     warp_words = in_turns ? stamps : table_lanes == 0 ? 0 : state_words + table_groups
//% let     table_words = shared_words + warp_words
//% let     fold_bytes = (shared_words + num_warps * warp_words) * 4
//% let     move_warps = move_threads / 32
//% let     part_bytes = parts * (index_bytes + move_warps * 2)
//% let     layer_bytes = move_threads * (ceil_div(moved_bytes, 4) * 4 + 4)
//% fits    tile_rows == 4 || tile_rows <= (moved_bytes > 8 ? 8 : 16)
//% fits    move_threads == (parts <= 128 ? 256 : 512)
//% let     tile_items = move_threads * tile_rows
//% let     move_bytes = tile_rows * layer_bytes + part_bytes
//% where   fold_bytes <= block_shared_bytes && move_bytes <= block_shared_bytes
//% fits    blocks_per_multiprocessor == 1 || blocks_per_multiprocessor * (move_bytes + 1024) <= block_shared_bytes
//% let     num_tiles = ceil_div(num_items, move_threads * tile_rows)
//% let     resident = num_multiprocessors * blocks_per_multiprocessor
//% let     num_blocks = num_segments == 0 ? 0 : min(resident, max(1, num_tiles))
//% let     num_chunks = num_segments == 0 ? 0 : ceil_div(num_items, chunk_items) + parts
//% if moves_columns
//% scratch moved_items : Columns[num_items]
//% else
//% scratch moved_items : State[num_items]
//% end
//% scratch moved_groups : u16[num_items]
//% scratch block_begins : Index[num_blocks * parts]
//% scratch tile_begins : Index[num_tiles * parts]
//% scratch num_counted : Index[1]
//% scratch part_begins : Index[parts + 1]
//% scratch chunk_begins : Index[parts + 1]
//% scratch tables : State[num_chunks * table_groups]
//% if uses_length || tells_empty
//% scratch table_counts : Index[num_chunks * table_groups]
//% end
//% launch  count_parts  grid = num_blocks  block = move_threads  shared = parts * 4
//% launch  scan_blocks  grid = num_segments == 0 ? 0 : parts / 32  block = 512
//% launch  scan_parts   grid = min(num_blocks, 1)  block = move_threads
//% launch  move_items   grid = num_blocks  block = move_threads  shared = move_bytes
//% launch  fold_chunks  grid = num_chunks  block = block_threads  shared = fold_bytes
//% launch  join_tables  grid = ceil_div(num_segments, 512)  block = 512
//% use     parts/segments/group_numbers.cuh
//% use     parts/tiles/group_tables.cuh
//% use     parts/tiles/join_group_tables.cuh

//% if moves_columns
using Moved = Columns;  // what is moved of an element
//% else
using Moved = State;
//% end
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
            //% if moves_columns
            items[row] = load_columns(inputs, known);
            //% elif uses_tables || uses_segment
            // Elements without a group look nothing up.
            items[row] = group >= 0 ? load_item(inputs, known, 0, group) : identity();
            //% else
            items[row] = load_item(inputs, known, 0, group);
            //% end
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
    //% if moves_columns
    const Inputs& inputs;
    Index first_group;  // of the part
    //% end
    const Moved* items;
    const u16* groups;
};

__device__ __forceinline__ void load_member(const Members& members, Index index, State& state, int& group)
{
    group = members.groups[index];
    //% if moves_columns
    state = lift_columns(members.inputs, members.items[index], members.first_group + group);
    //% else
    state = members.items[index];
    //% end
}

// A block takes one chunk of a part. Each table takes a share of consecutive elements of the chunk, as in
// group_tables.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold_chunks(
            //% if moves_columns
            Inputs inputs,
            //% end
            const Moved* moved_items, const u16* moved_groups, const Index* part_begins,
            //% if uses_length || tells_empty
            Index* table_counts,
            //% end
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
    //% if moves_columns
    const Members members = {inputs, Index(part) * kTableGroups, moved_items, moved_groups};
    //% else
    const Members members = {moved_items, moved_groups};
    //% end
    fold_members(members, begin, min(begin + share, last), table);
    __syncthreads();  // the tables are complete

    for (int group = threadIdx.x; group < kTableGroups; group += kBlockThreads) {
        const Entry entry = join_warp_tables((unsigned*)words, group);
        const i64 at = i64(chunk) * kTableGroups + group;
        tables[at] = entry.state;
        //% if uses_length || tells_empty
        table_counts[at] = entry.count;
        //% end
    }
}

constexpr int kFewChunks = 16;

// Joins the tables of all chunks. Where parts have few chunks, each thread joins the entries of a group. Else
// a block takes 32 neighbouring groups at a time, and each of its warps takes some neighbouring chunks.
extern "C" __global__ void __launch_bounds__(kJoiningWarps * kJoinedGroups)
join_tables(Segments segments,
            Results results,
            const State* tables,
            //% if uses_length || tells_empty
            const Index* table_counts,
            //% end
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
        //% if uses_length || tells_empty
        Index count = 0;
        //% end
        #pragma unroll 4
        for (Index chunk = chunk_begins[part]; chunk < chunk_begins[part + 1]; ++chunk) {
            const i64 at = i64(chunk) * kTableGroups + place;
            total = combine(total, tables[at]);
            //% if uses_length || tells_empty
            count += table_counts[at];
            //% end
        }
        //% if uses_length || tells_empty
        store(results, group, count, total);
        //% else
        store(results, group, 1, total);
        //% end
        return;
    }
    #pragma unroll 1
    for (int k = 0; k < kGroupsOfBlock; k += kJoinedGroups) {
        const int part = min(int((first_group + k) / kTableGroups), kParts - 1);
        const Index group = first_group + k + threadIdx.x % kWarpThreads;
        join_group_tables(results, tables,
                          //% if uses_length || tells_empty
                          table_counts,
                          //% end
                          chunk_begins[part], chunk_begins[part + 1], int(group % kTableGroups), group,
                          group < segments.num_segments);
        __syncthreads();  // the block's shared memory may be written again
    }
}
