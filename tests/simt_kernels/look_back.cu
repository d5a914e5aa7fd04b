// Inclusive prefix sums in one pass by decoupled look-back (Merrill and Garland 2016), one warp a tile.
// Tiles are taken in order of arrival, so a tile only waits for tiles that have begun.
constexpr unsigned kAggregate = 1;
constexpr unsigned kPrefix = 2;

extern "C" __global__ void look_back(const unsigned* __restrict__ values, unsigned* prefixes, unsigned* next_tile,
                                     volatile unsigned* status, unsigned* aggregates, unsigned* inclusive)
{
    const unsigned lane = threadIdx.x;
    unsigned tile = 0;
    if (lane == 0)
        tile = atomicAdd(next_tile, 1u);
    tile = __shfl_sync(0xffffffffu, tile, 0);

    unsigned scan = values[tile * 32 + lane];
    for (int delta = 1; delta < 32; delta *= 2) {
        const unsigned earlier = __shfl_up_sync(0xffffffffu, scan, delta);
        scan += lane >= delta ? earlier : 0;
    }
    const unsigned aggregate = __shfl_sync(0xffffffffu, scan, 31);
    unsigned before = 0;
    if (lane == 0) {
        if (tile > 0) {
            aggregates[tile] = aggregate;
            __threadfence();  // the aggregate is seen before its status
            status[tile] = kAggregate;
        }
        for (unsigned other = tile; other-- > 0;) {
            unsigned found = status[other];
            while (found == 0)
                found = status[other];
            __threadfence();  // what the status promises is read after it
            if (found == kPrefix) {
                before += inclusive[other];
                break;
            }
            before += aggregates[other];
        }
        inclusive[tile] = before + aggregate;
        __threadfence();  // the prefix is seen before its status
        status[tile] = kPrefix;
    }
    before = __shfl_sync(0xffffffffu, before, 0);
    prefixes[tile * 32 + lane] = before + scan;
}

// The same with acquire and release in place of fences; value and status are written apart.
extern "C" __global__ void look_back_acquire(const unsigned* __restrict__ values, unsigned* prefixes,
                                             unsigned* next_tile, unsigned* status, unsigned* aggregates,
                                             unsigned* inclusive)
{
    const unsigned lane = threadIdx.x;
    unsigned tile = 0;
    if (lane == 0)
        tile = atomicAdd(next_tile, 1u);
    tile = __shfl_sync(0xffffffffu, tile, 0);
    const unsigned value = values[tile * 32 + lane];
    unsigned scan = value;
    for (int delta = 1; delta < 32; delta *= 2) {
        const unsigned earlier = __shfl_up_sync(0xffffffffu, scan, delta);
        scan += lane >= delta ? earlier : 0;
    }
    const unsigned aggregate = __shfl_sync(0xffffffffu, scan, 31);
    unsigned before = 0;
    if (lane == 0) {
        aggregates[tile] = aggregate;
        __segfold_store_release(&status[tile], kAggregate);
        for (unsigned other = tile; other-- > 0;) {
            unsigned found = __segfold_load_acquire(&status[other]);
            while (found == 0)
                found = __segfold_load_acquire(&status[other]);
            if (found == kPrefix) {
                before += inclusive[other];
                break;
            }
            before += aggregates[other];
        }
        inclusive[tile] = before + aggregate;
        __segfold_store_release(&status[tile], kPrefix);
    }
    before = __shfl_sync(0xffffffffu, before, 0);
    prefixes[tile * 32 + lane] = before + scan;
}
