//% use parts/reduce/warp_scan_tails.cuh
//% use parts/reduce/partial.cuh
// Partials of all tiles, then of groups of 32 tiles, then of groups of 32 groups, and so on up to one group.
struct Tree {
    State* heads;
    State* tails;
    bool* ends;
    Index* last_segments;
    //% if uses_length
    Index* first_heads;
    Index* last_heads;
    //% end
    unsigned* arrivals;  // at a group's place: number of its members that have written their partials
};

__device__ __forceinline__ void write_partial(const Tree& tree, Index place, const Partial& partial)
{
    tree.heads[place] = partial.head;
    tree.tails[place] = partial.tail;
    tree.ends[place] = partial.ends;
    tree.last_segments[place] = partial.last_segment;
    //% if uses_length
    tree.first_heads[place] = partial.first_head;
    tree.last_heads[place] = partial.last_head;
    //% end
}

// Joins a group's partials, one in each of the first lanes of a warp, in their order. Stores segments that
// begin in one partial and end in a later one. The end of a segment that began earlier becomes the group's
// head.
__device__ __forceinline__ Partial join_group(const Tree& tree, const Results& results, Index first,
                                              int members)
{
    const int lane = threadIdx.x % kWarpThreads;
    const Index place = first + (lane < members ? lane : 0);
    const State tail = lane < members ? tree.tails[place] : identity();
    const bool ends = lane < members && tree.ends[place];
    const unsigned heads = __ballot_sync(kFullMask, ends);
    const unsigned earlier = heads & ((1u << lane) - 1u);

    const State total = warp_scan_tails(tail, heads);
    const State before = shuffle_up(total, 1);
    State head = tree.heads[place];
    if (lane > 0)
        head = combine(before, head);
    const Index last_segment = tree.last_segments[place];
    const Index segment = __shfl_up_sync(kFullMask, last_segment, 1);
    //% if uses_length
    const Index first_head = tree.first_heads[place];
    const Index last_head = tree.last_heads[place];
    const int opener = earlier == 0 ? 0 : kWarpThreads - 1 - __clz(int(earlier));
    const Index length = first_head - __shfl_sync(kFullMask, last_head, opener);
    //% else
    constexpr Index length = 1;  // store() only tests that the length is not 0
    //% end
    if (ends && earlier != 0)
        store(results, segment, length, head);

    Partial group;
    group.head = shuffle(head, heads == 0 ? 0 : __ffs(int(heads)) - 1);
    group.tail = shuffle(total, members - 1);
    group.ends = heads != 0;
    group.last_segment = __shfl_sync(kFullMask, last_segment, members - 1);
    //% if uses_length
    group.first_head = __shfl_sync(kFullMask, first_head, heads == 0 ? 0 : __ffs(int(heads)) - 1);
    group.last_head =
        __shfl_sync(kFullMask, last_head, heads == 0 ? 0 : kWarpThreads - 1 - __clz(int(heads)));
    //% end
    return group;
}

// Gives a tile's partial, which all lanes of a warp hold, to the tree. The last of 32 neighbours to arrive
// joins their partials and gives the result to the next level. No warp waits, and the order of combination
// does not depend on the order of arrival. Returns true in the warp that joins everything; `partial` is then
// the partial of the whole input.
__device__ __forceinline__ bool climb_tree(const Tree& tree, const Results& results, Index num_tiles,
                                           Index tile, Partial& partial)
{
    Index level = 0;  // place of the level's first partial
    Index place = tile;
    #pragma unroll 1
    for (Index size = num_tiles; size > 1;) {
        const Index group = place / kWarpThreads;
        const int members = int(min(size - group * kWarpThreads, Index(kWarpThreads)));
        bool last = false;
        if (threadIdx.x % kWarpThreads == 0) {
            write_partial(tree, level + place, partial);
            __threadfence();  // others see the partial before the arrival
            const unsigned most = unsigned(members) - 1u;
            // The last arrival wraps to 0, ready for the next launch.
            last = atomicInc(&tree.arrivals[level + size + group], most) == most;
        }
        if (!__any_sync(kFullMask, last))
            return false;
        __threadfence();  // reads the others' partials after their arrivals
        __syncwarp();     // so that this holds for all lanes
        partial = join_group(tree, results, level + group * kWarpThreads, members);
        level += size;
        size = (size + kWarpThreads - 1) / kWarpThreads;
        place = group;
    }
    return true;
}
