//% stage   group_shares
//% title   Groups in any order: a table of states for each share of the elements, joined in order
//% source  Shatdal & Naughton 1995, Adaptive Parallel Aggregation Algorithms, two phases
//% layout  groups
//% needs   associative, !uses_position, !scans, !map, !rows
//% let     cached = 1048576 / state_bytes
//% suits   num_elements >= 262144 && num_segments <= min(num_elements / 64, cached) ? 50 : 0
//% tune    most_shares = 256, 16, 64
//% let     ample = num_items / 16 / max(1, num_segments)
//% let     num_shares = max(1, min(most_shares, min(ample, num_items / 16384)))
//% scratch tables : State[num_shares * num_segments]
//% if uses_length || tells_empty
//% scratch table_counts : Index[num_shares * num_segments]
//% end
//% launch  fold_share  grid = num_shares  block = 1
//% launch  join_groups  grid = ceil_div(num_segments, 256)  block = 1
//% use     cpu/parts/group_numbers.h

// Returns the number of shares, as the front matter computes it. Each share has at least 16 elements for each
// group, so that its table takes less time to clear and to join than to fill.
static inline i64 num_shares_of(const Segments& segments)
{
    const i64 groups = segments.num_segments > 0 ? segments.num_segments : 1;
    const i64 ample = segments.num_items / 16 / groups;
    const i64 long_enough = segments.num_items / 16384;
    const i64 fewer = ample < long_enough ? ample : long_enough;
    return fewer < 1 ? 1 : fewer < kMostShares ? fewer : kMostShares;
}

// Folds a share of consecutive elements into the share's table. The elements of a group are joined in order.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           //% if uses_length || tells_empty
                           Index* table_counts,
                           //% end
                           State* tables)
{
    const i64 num_shares = num_shares_of(segments);
    State* const table = tables + share * segments.num_segments;
    for (Index group = 0; group < segments.num_segments; ++group)
        table[group] = identity();
    //% if uses_length || tells_empty
    Index* const counts = table_counts + share * segments.num_segments;
    for (Index group = 0; group < segments.num_segments; ++group)
        counts[group] = 0;
    //% end
    const Index end = Index(i64(segments.num_items) * (share + 1) / num_shares);
    bool is_outside = false;
    for (Index i = Index(i64(segments.num_items) * share / num_shares); i < end; ++i) {
        const Index group = group_of(segments, i, is_outside);
        if (group < 0)
            continue;
        table[group] = combine(table[group], load_item(inputs, i, 0, group));
        //% if uses_length || tells_empty
        ++counts[group];
        //% end
    }
    tell_outside(segments, is_outside);
}

constexpr Index kJoinedGroups = 256;

// Joins the tables of all shares in order into the first table, for kJoinedGroups neighbouring groups, and
// stores their results.
extern "C" void join_groups(i64 part,
                            const Segments& segments,
                            const Results& results,
                            //% if uses_length || tells_empty
                            const Index* table_counts,
                            //% end
                            State* tables)
{
    const i64 num_shares = num_shares_of(segments);
    const Index first = Index(part * kJoinedGroups);
    const Index rest = segments.num_segments - first;
    const Index count = rest < kJoinedGroups ? rest : kJoinedGroups;
    State* const totals = tables + first;
    for (i64 share = 1; share < num_shares; ++share) {
        const State* const table = tables + share * segments.num_segments + first;
        for (Index k = 0; k < count; ++k)
            totals[k] = combine(totals[k], table[k]);
    }
    for (Index k = 0; k < count; ++k) {
        //% if uses_length || tells_empty
        Index length = 0;
        for (i64 share = 0; share < num_shares; ++share)
            length += table_counts[share * segments.num_segments + first + k];
        store(results, first + k, length, totals[k]);
        //% else
        store(results, first + k, 1, totals[k]);
        //% end
    }
}
