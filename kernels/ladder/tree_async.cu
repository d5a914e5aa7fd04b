//% stage   tree_async
//% title   Copies to shared memory run ahead of the threads that fold
//% after   tree_last_block
//% source  NVIDIA 2020, CUDA C++ Programming Guide 11.0, asynchronous copies; Svedin et al. 2021
//% layout  whole, uniform, offsets, ranges
//% needs   associative, element_bytes > 0, element_bytes <= 32, state_bytes <= 384
//% needs   !uses_position, !uses_segment
//% tune    block_threads = 128, 64, 256, 512, 1024
//% tune    items_per_thread = 16, 8, 32
//% tune    blocks_per_multiprocessor = 8, 1, 2, 4, 16, 32
//% tune    blocks_per_segment = 2, 4, 8, 16
//% where   block_threads * (2 * items_per_thread * element_bytes + ceil_div(state_bytes, 32)) <= 48000
//% where   whole ? blocks_per_segment == 2 : blocks_per_multiprocessor == 8
//% use     parts/tiles/block_shares.cuh
//% use     parts/elements/warp_tile.cuh

// A warp takes consecutive tiles and has room for two: while its lanes fold one tile, the next one is copied,
// past the registers. Tiles begin at multiples of their size in the input, so that vectors can be copied.
// Elements of a tile that lie outside of the share are skipped.
//% if commutative
// Each lane folds its row of every tile, and the lanes are joined at the end.
//% else
// combine() need not commute: a lane's row is consecutive, and the lanes are joined after each tile.
//% end
struct alignas(128) TwoTiles {
    Tile at[2];
};

__device__ __forceinline__ State fold_share(const Inputs& inputs, Index begin, Index end, Index there)
{
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    constexpr int kWarpItems = kItemsPerThread * kWarpThreads;
    __shared__ TwoTiles tiles[kWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    TwoTiles& mine = tiles[warp];

    const Index from = begin / kWarpItems * kWarpItems;
    const Index num_tiles = begin < end ? (end - from + kWarpItems - 1) / kWarpItems : 0;
    const Index last = from + part_begin(num_tiles, warp + 1, kWarps) * kWarpItems;
    Index tile = from + part_begin(num_tiles, warp, kWarps) * kWarpItems;
    State total = identity();
    int turn = 0;
    if (tile < last)
        copy_tile(mine.at[0], inputs, tile, there);
    for (; tile < last; tile += kWarpItems) {
        wait_for_copies();
        __syncwarp();  // the tile has been copied, and all lanes are done with the one before
        if (tile + kWarpItems < last)
            copy_tile(mine.at[turn ^ 1], inputs, tile + kWarpItems, there);
        //% if !commutative
        State row = identity();
        //% end
        #pragma unroll
        for (int step = 0; step < kItemsPerThread / kStepItems; ++step) {
            const Items items = take_items(mine.at[turn], step);
            #pragma unroll
            for (int k = 0; k < kStepItems; ++k) {
                const Index index = tile + lane * kItemsPerThread + step * kStepItems + k;
                if (begin <= index && index < end)
                    //% if commutative
                    total = combine(total, lift_item(inputs, items, k, index));
                    //% else
                    row = combine(row, lift_item(inputs, items, k, index));
                    //% end
            }
        }
        //% if !commutative
        row = warp_reduce(row);
        // The totals of other lanes stay the identity, so that the block joins the warps' shares in order.
        if (lane == 0)
            total = combine(total, row);
        //% end
        turn ^= 1;
    }
    return block_reduce(total);
}
