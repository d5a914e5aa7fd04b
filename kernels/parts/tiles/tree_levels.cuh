//% let tile_items = block_threads * items_per_thread
//% if whole && atomic_totals
//% use parts/segments/segments.cuh
// Blocks combine their totals by an atomic function. The last block to come stores the result.
//% scratch all : State[1]
//% scratch ticket : unsigned[1] zero
//% launch clear_total grid = 1  block = 32
//% launch reduce      grid = max(1, ceil_div(num_items, tile_items))  block = block_threads
//% elif whole
//% use parts/segments/segments.cuh
// Each level folds the totals of the level before, by its own launch, until one total is left. Seven levels
// of blocks of 64 threads fold 2^42 elements.
//% let level_0 = max(1, ceil_div(num_items, tile_items))
//% let level_1 = level_0 > 1 ? ceil_div(level_0, tile_items) : 0
//% let level_2 = level_1 > 1 ? ceil_div(level_1, tile_items) : 0
//% let level_3 = level_2 > 1 ? ceil_div(level_2, tile_items) : 0
//% let level_4 = level_3 > 1 ? ceil_div(level_3, tile_items) : 0
//% let level_5 = level_4 > 1 ? ceil_div(level_4, tile_items) : 0
//% let level_6 = level_5 > 1 ? ceil_div(level_5, tile_items) : 0
//% scratch partials : State[level_0 + level_1 + level_2 + level_3 + level_4 + level_5]
//% launch reduce          grid = level_0  block = block_threads
//% launch reduce_partials grid = level_1  block = block_threads
//% launch reduce_partials grid = level_2  block = block_threads
//% launch reduce_partials grid = level_3  block = block_threads
//% launch reduce_partials grid = level_4  block = block_threads
//% launch reduce_partials grid = level_5  block = block_threads
//% launch reduce_partials grid = level_6  block = block_threads
//% else
//% use parts/segments/segment_extent.cuh
//% launch reduce grid = min(num_segments, num_multiprocessors * 8192)  block = block_threads
//% end

// A rung of the ladder defines the functions below. fold_block() folds one state of each thread of a block to
// thread 0. All threads call it; the values of other threads mean nothing, and two calls need a barrier
// between them. fold_elements() and fold_partials() fold the elements that one thread takes of the tile of
// kTileItems that begins at `begin`, up to `end`.
constexpr Index kTileItems = Index(kBlockThreads) * kItemsPerThread;
__device__ __forceinline__ State fold_block(State state);
__device__ __forceinline__ State fold_elements(const Inputs& inputs, Index first, Index begin, Index end,
                                               Index segment);

//% if whole && atomic_totals
extern "C" __global__ void clear_total(State* all)
{
    if (threadIdx.x == 0)
        *all = identity();
}

// A block takes one tile of the input.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* all,
       unsigned* ticket)
{
    const Index begin = Index(blockIdx.x) * kTileItems;
    const State total = fold_block(fold_elements(inputs, 0, begin, segments.num_items, 0));
    if (threadIdx.x != 0)
        return;
    atomic_combine(all, total);
    __threadfence();  // others see the block's total before the ticket
    if (atomicInc(ticket, gridDim.x - 1) != gridDim.x - 1)  // wraps to 0, ready for the next launch
        return;
    __threadfence();  // reads the others' totals after their tickets
    store(results, 0, segments.num_items, *all);
}
//% elif whole
__device__ __forceinline__ State fold_partials(const State* partials, Index begin, Index end);

__device__ __forceinline__ void leave_total(const Segments& segments, const Results& results, State* partials,
                                            State total)
{
    if (threadIdx.x != 0)
        return;
    if (gridDim.x == 1)
        store(results, 0, segments.num_items, total);
    else
        partials[blockIdx.x] = total;
}

// A block takes one tile of the input.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials)
{
    const Index begin = Index(blockIdx.x) * kTileItems;
    const State total = fold_block(fold_elements(inputs, 0, begin, segments.num_items, 0));
    leave_total(segments, results, partials, total);
}

// A block takes one tile of a level's partials. Levels lie one behind the other, each shorter than the level
// before, so the number of blocks tells which level this launch folds.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce_partials(Segments segments,
                Results results,
                State* partials)
{
    Index size = (segments.num_items + kTileItems - 1) / kTileItems;
    #pragma unroll 1
    while ((size + kTileItems - 1) / kTileItems != Index(gridDim.x)) {
        partials += size;
        size = (size + kTileItems - 1) / kTileItems;
    }
    const State total = fold_block(fold_partials(partials, Index(blockIdx.x) * kTileItems, size));
    leave_total(segments, results, partials + size, total);
}
//% else
// A block takes one segment, tile by tile. With more segments than blocks, it goes on with every gridDim.x-th
// segment.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    for (Index segment = blockIdx.x; segment < segments.num_segments; segment += gridDim.x) {
        const Index first = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        State total = identity();
        for (Index begin = 0; begin < length; begin += kTileItems) {
            const State tile = fold_block(fold_elements(inputs, first, begin, length, segment));
            if (threadIdx.x == 0)
                total = combine(total, tile);
            __syncthreads();  // the block is done with the tile, so the next one may take its place
        }
        if (threadIdx.x == 0)
            store(results, segment, length, total);
    }
}
//% end
