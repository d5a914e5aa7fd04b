constexpr int kJoinedGroups = 32;  // groups of a block; each of its warps takes a part of the tables
constexpr int kJoiningWarps = 16;

// Joins entry `place` of the tables `first` to `last` - 1 in order, and stores the result of the group. A
// table has kTableGroups entries. The whole block calls it. `is_group` is false in lanes without a group.
__device__ __forceinline__ void join_group_tables(const Results& results, const State* tables,
                                                  //% if uses_length || tells_empty
                                                  const Index* table_counts,
                                                  //% end
                                                  Index first, Index last, int place, Index group,
                                                  bool is_group)
{
    __shared__ State parts[kJoiningWarps][kJoinedGroups];
    //% if uses_length || tells_empty
    __shared__ Index counts[kJoiningWarps][kJoinedGroups];
    Index count = 0;
    //% end
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
            //% if uses_length || tells_empty
            count += table_counts[at];
            //% end
        }
    }
    parts[warp][lane] = total;
    //% if uses_length || tells_empty
    counts[warp][lane] = count;
    //% end
    __syncthreads();  // the parts of all warps are written
    if (warp != 0 || !is_group)
        return;
    #pragma unroll 1
    for (int k = 1; k < kJoiningWarps; ++k) {
        total = combine(total, parts[k][lane]);
        //% if uses_length || tells_empty
        count += counts[k][lane];
        //% end
    }
    //% if uses_length || tells_empty
    store(results, group, count, total);
    //% else
    store(results, group, 1, total);
    //% end
}
