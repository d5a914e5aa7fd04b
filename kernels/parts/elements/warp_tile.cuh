//% use parts/elements/async_copy.cuh
//% use parts/elements/tile_place.cuh
// Copies a tile of a column whose array begins in the middle of a vector, or less than a whole tile.
//% if map
__device__ __forceinline__ void copy_odd_column(char* column, const char* source, int element_bytes,
                                                Index count)
//% else
// This function is not inlined: tiles are copied in two places, and a single copy of it saves a twentieth of
// the compile time.
__device__ __noinline__ void copy_odd_column(char* column, const char* source, int element_bytes, Index count)
//% end
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && element_bytes >= 4 && (unsigned long long)source % 4 == 0) {
        #pragma unroll 4
        for (int mine = lane * 4; mine < row_bytes * kWarpThreads; mine += 4 * kWarpThreads) {
            const int row = mine / (element_bytes == 4 ? 4 : 8) / kItemsPerThread;
            copy_word_async(column + tile_place(row, mine - row * row_bytes, row_bytes), source + mine);
        }
        return;
    }
    #pragma unroll 1
    for (int k = lane; k < kItemsPerThread * kWarpThreads; k += kWarpThreads) {
        const int byte_in_row = k % kItemsPerThread * element_bytes;
        char* const to = column + tile_place(k / kItemsPerThread, byte_in_row, row_bytes);
        #pragma unroll 1
        for (int byte = 0; byte < element_bytes; ++byte)
            to[byte] = k < count ? source[k * element_bytes + byte] : char(0);
    }
}

// Starts to copy a warp's tile of one column; each lane will take one row. Only `count` elements exist, which
// may be less than a tile; the other places become zero.
__device__ __forceinline__ void copy_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool whole = count >= kItemsPerThread * kWarpThreads;
    if (whole && (unsigned long long)source % 16 == 0) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads) {
            const int mine = byte + lane * 16;
            if (mine < row_bytes * kWarpThreads)  // rows of 8 bytes have fewer vectors than lanes
                copy_async(column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes), source + mine);
        }
        return;
    }
    copy_odd_column(column, source, element_bytes, count);
}
