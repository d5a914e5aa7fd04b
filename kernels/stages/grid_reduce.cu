//% stage   grid_reduce
//% title   All blocks reduce one segment in one launch; the last block finishes
//% source  Harris 2007, kernel 7, with the last block of the CUDA sample threadFenceReduction
//% layout  whole
//% needs   associative
//% suits   100
//% tune    block_threads = 256, 128, 512
//% tune    items_per_thread = 8, 4, 16
//% tune    blocks_per_multiprocessor = 8, 2, 4, 16
//% prefer  block_threads = num_elements >= 16777216 ? 512 : 256
//% prefer  items_per_thread = !commutative && state_bytes >= 16 && element_bytes <= 4 ? 16 : 8
//% prefer  blocks_per_multiprocessor = !commutative && state_bytes >= 8 ? 1024 / block_threads : 8
//% let     num_tiles = ceil_div(num_items, block_threads * items_per_thread)
//% let     num_blocks = max(1, min(num_tiles, num_multiprocessors * blocks_per_multiprocessor))
//% scratch partials : State[num_blocks]
//% scratch ticket : unsigned[1] zero
//% launch  reduce  grid = num_blocks  block = block_threads
//% use     parts/segments.cuh
//% use     parts/block_reduce.cuh
//% if !commutative
//% use     parts/fold_consecutive.cuh
//% end

//% if commutative
// A block takes every gridDim.x-th tile; thread t of it takes the elements t, t + kBlockThreads, ... of the
// tile.
//% else
// combine() need not commute: each warp of the grid takes one contiguous share of the input and walks it in
// chunks, in which a lane folds kItemsPerThread consecutive elements. Shares, partials and blocks are
// joined in order.
//% end
extern "C" __global__ void __launch_bounds__(kBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results,
       State* partials,
       unsigned* ticket)
{
    const Index length = segments.num_items;
    State total = identity();
    //% if commutative
    constexpr int kTileItems = kBlockThreads * kItemsPerThread;
    const Index stride = Index(gridDim.x) * kTileItems;
    Index tile = Index(blockIdx.x) * kTileItems;
    for (; tile + kTileItems <= length; tile += stride) {
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index index = tile + k * kBlockThreads + threadIdx.x;
            items[k] = load_item(inputs, index, index, 0);
        }
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            total = combine(total, items[k]);
    }
    // The last tile may be a part of one; it is the only one left for its block.
    #pragma unroll 1
    for (Index index = tile + threadIdx.x; index < length; index += kBlockThreads)
        total = combine(total, load_item(inputs, index, index, 0));
    //% else
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kChunk = kItemsPerThread * kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const Index num_warps = Index(gridDim.x) * kWarps;
    const Index warp = Index(blockIdx.x) * kWarps + threadIdx.x / kWarpThreads;
    const Index num_chunks = length / kChunk + 1;
    // Warps take equal shares of whole chunks; the first ones one chunk more where it does not divide evenly.
    const Index chunks = num_chunks / num_warps;
    const Index more = num_chunks % num_warps;
    const Index begin = (warp * chunks + min(warp, more)) * kChunk;
    const Index end = min(begin + (chunks + (warp < more ? 1 : 0)) * kChunk, length);
    for (Index chunk = begin; chunk < end; chunk += kChunk) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = warp_reduce(fold_consecutive(inputs, mine, mine, 0, end - mine));
        // The other lanes' totals stay the identity, so that the block's order is the shares'.
        if (lane == 0)
            total = combine(total, part);
    }
    //% end

    // Two rounds at most: all blocks fold what their threads have, and the last one what the blocks had.
    __shared__ bool last;
    #pragma unroll 1
    for (bool is_last_round = false;; is_last_round = true) {
        total = block_reduce(total);
        if (is_last_round)
            break;
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = total;
            __threadfence();  // the partial is seen before the ticket is
            // Wraps to 0, ready for the next launch.
            last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();  // all threads know whether theirs is the last block
        if (!last)
            return;
        __threadfence();  // the other blocks' partials are read after their tickets

        // Each thread joins a few consecutive ones.
        const int share = (gridDim.x + kBlockThreads - 1) / kBlockThreads;
        total = identity();
        #pragma unroll 1
        for (int k = 0; k < share; ++k) {
            const int block = threadIdx.x * share + k;
            if (block < int(gridDim.x))
                total = combine(total, partials[block]);
        }
    }
    if (threadIdx.x == 0)
        store(results, 0, length, total);
}
