//% if costly_combine
constexpr int kCopies = 1;        // copies of the body of a loop that combines
//% else
constexpr int kCopies = 32;       // all rounds are unrolled
//% end
//% if costly_combine && !has_append
constexpr int kWalkCopies = 1;    // copies of the body of a loop over a lane's row
//% else
constexpr int kWalkCopies = 32;   // all rounds are unrolled
//% end
constexpr int kSteps = kItemsPerThread / kStepItems;

// Joins a lane's row to its run. No segment ends in the row.
__device__ __forceinline__ State fold_row(const Inputs& inputs,
                                          //% if costly_combine
                                          const Tile& tile,
                                          //% else
                                          const Items (&items)[kSteps],
                                          //% end
                                          Index row_begin,
                                          State run)
{
    #pragma unroll kWalkCopies
    for (int step = 0; step < kSteps; ++step) {
        //% if costly_combine
        const Items some = take_items(tile, step);
        //% else
        const Items& some = items[step];
        //% end
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            //% if has_append
            run = append_item(run, inputs, some, k, row_begin + step * kStepItems + k);
            //% else
            run = combine(run, lift_item(inputs, some, k, row_begin + step * kStepItems + k));
            //% end
    }
    return run;
}

// Returns the number of segments that end in the rows of earlier lanes. `num_totals` becomes the number in
// all rows.
__device__ __forceinline__ int find_rank(unsigned ends, int& num_totals)
{
    const int lane = threadIdx.x % kWarpThreads;
    int rank = __popc(ends);
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const int earlier = __shfl_up_sync(kFullMask, rank, delta);
        rank += lane >= delta ? earlier : 0;
    }
    num_totals = __shfl_sync(kFullMask, rank, kWarpThreads - 1);
    rank -= __popc(ends);
    return rank;
}

// Walks a lane's row. At each head, stores the run so far as the next total and starts a new run. Returns the
// run behind the last head.
__device__ __forceinline__ State walk_row(const Inputs& inputs,
                                          //% if uses_tables
                                          Index num_items,
                                          //% end
                                          //% if costly_combine
                                          const Tile& tile,
                                          //% else
                                          const Items (&items)[kSteps],
                                          //% end
                                          Index row_begin,
                                          unsigned heads,
                                          State* place,
                                          State run)
{
    #pragma unroll kWalkCopies
    for (int step = 0; step < kSteps; ++step) {
        //% if costly_combine
        const Items some = take_items(tile, step);
        //% else
        const Items& some = items[step];
        //% end
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k) {
            const int item = step * kStepItems + k;
            const bool is_head = heads >> item & 1;
            if (is_head)
                *place = run;
            place += is_head;
            //% if has_append
            run = append_item(is_head ? identity() : run, inputs, some, k, row_begin + item);
            //% else
            //% if uses_tables
            // Items behind the last one look nothing up.
            const State state = row_begin + item < num_items
                                    ? lift_item(inputs, some, k, row_begin + item)
                                    : identity();
            //% else
            const State state = lift_item(inputs, some, k, row_begin + item);
            //% end
            const State longer = combine(run, state);
            run = is_head ? state : longer;
            //% end
        }
    }
    return run;
}

// Joins the runs of the lanes. Each lane gets the run from the last head up to the end of its own row. If a
// lane has a head, the run of earlier lanes completes its first total, here[rank].
__device__ __forceinline__ State join_rows(State run, unsigned heads, State* here, int rank)
{
    const int lane = threadIdx.x % kWarpThreads;
    // A lane's run reaches back to the last lane with a head.
    const unsigned lanes = __ballot_sync(kFullMask, heads != 0);
    const int reach = max(31 - __clz(lanes & kFullMask >> (31 - lane)), 0);
    #pragma unroll kCopies
    for (int delta = 1; delta < kWarpThreads; delta *= 2) {
        const State earlier = shuffle_up(run, delta);
        if (lane - delta >= reach)
            run = combine(earlier, run);
    }
    const State before = shuffle_up(run, 1);
    if (lane > 0 && heads != 0)
        here[rank] = combine(before, here[rank]);
    return run;
}
