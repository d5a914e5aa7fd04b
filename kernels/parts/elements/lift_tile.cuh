//% use parts/elements/warp_tile.cuh
constexpr int kLifted = 8;  // items that a lane lifts at a time

// Lifts the items of a tile and writes each state to its place in rows of kStateRow bytes. Neighbouring lanes
// lift neighbouring items, whose lookups often lie in one line of memory. Items behind the last one look
// nothing up.
__device__ __forceinline__ void lift_tile(const Inputs& inputs,
                                          const Tile& tile,
                                          Index tile_begin,
                                          Index num_items,
                                          char* states)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll
    for (int first = 0; first < kTileItems; first += kLifted * kWarpThreads) {
        State lifted[kLifted];  // so that kLifted lookups are under way
        #pragma unroll
        for (int k = 0; k < kLifted; ++k) {
            const int item = first + k * kWarpThreads + lane;
            lifted[k] = identity();
            if (tile_begin + item < num_items)
                lifted[k] = lift_at(inputs, tile, item, tile_begin + item);
        }
        #pragma unroll
        for (int k = 0; k < kLifted; ++k) {
            const int item = first + k * kWarpThreads + lane;
            char* const row = states + item / kItemsPerThread * kStateRow;
            *reinterpret_cast<State*>(row + item % kItemsPerThread * sizeof(State)) = lifted[k];
        }
    }
}
