// group_shares: Groups in any order: a table of states for each share of the elements, joined in order
// Segments given as groups of i32, 32-bit indices.
// most_shares = 256
//
// Sum of the values.
// operator sum(x: i32) -> i32 {
//   state sum: i32 = 0
//   lift x
//   combine(a, b) a + b
//   laws commutative
// }
//
// Emitted by segfold from kernels/cpu/group_shares.cpp; edit that file instead.

using Index = int;
using i64 = long long;
using Number = int;

constexpr int kMostShares = 256;

struct Inputs {
    const int* x;
};

struct Results {
    int* result;
};

using State = int;

[[gnu::always_inline]] static inline State identity()
{
    return 0;
}

[[gnu::always_inline]] static inline State lift(int x)
{
    return x;
}

// The element at `index` of the input, which is at `position` of `segment`, lifted.
[[gnu::always_inline]] static inline State load_item(const Inputs& inputs, Index index, Index, Index)
{
    return lift(inputs.x[index]);
}

// The left operand covers earlier elements, always.
[[gnu::always_inline]] static inline State combine(State a, State b)
{
    return int(unsigned(a) + unsigned(b));
}

// Writes the total of a segment.
[[gnu::always_inline]] static inline void store(const Results& results, Index segment, Index, State state)
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
[[gnu::always_inline]] static inline Index group_of(const Segments& segments, Index index, bool& is_outside)
{
    const Number number = segments.numbers[index];
    const bool is_inside = unsigned(number) < unsigned(segments.num_segments);
    is_outside |= !is_inside && number >= 0;
    return is_inside ? Index(number) : Index(-1);
}

// Reports to the caller that an element has a number that no group has.
static inline void tell_outside(const Segments& segments, bool is_outside)
{
    if (is_outside)
        __atomic_store_n(segments.outside, 1u, __ATOMIC_RELAXED);
}

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
                           State* tables)
{
    const i64 num_shares = num_shares_of(segments);
    State* const table = tables + share * segments.num_segments;
    for (Index group = 0; group < segments.num_segments; ++group)
        table[group] = identity();
    const Index end = Index(i64(segments.num_items) * (share + 1) / num_shares);
    bool is_outside = false;
    for (Index i = Index(i64(segments.num_items) * share / num_shares); i < end; ++i) {
        const Index group = group_of(segments, i, is_outside);
        if (group < 0)
            continue;
        table[group] = combine(table[group], load_item(inputs, i, 0, group));
    }
    tell_outside(segments, is_outside);
}

constexpr Index kJoinedGroups = 256;

// Joins the tables of all shares in order into the first table, for kJoinedGroups neighbouring groups, and
// stores their results.
extern "C" void join_groups(i64 part,
                            const Segments& segments,
                            const Results& results,
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
        store(results, first + k, 1, totals[k]);
    }
}
