//% use parts/elements/async_copy.cuh
//% use parts/elements/tile_place.cuh
constexpr int kWarpItems = kItemsPerThread * kWarpThreads;

// Returns the place of this lane's vector in the pass over a tile that begins at byte `byte` of a column. Rows of
// up to 64 bytes are permuted alike in each pass.
__device__ __forceinline__ int vector_place(int byte, int row_bytes)
{
    const int mine = int(threadIdx.x) % kWarpThreads * 16;
    if (row_bytes <= 64)
        return tile_place(mine / row_bytes, mine % row_bytes, row_bytes) + byte;
    return tile_place((byte + mine) / row_bytes, (byte + mine) % row_bytes, row_bytes);
}

// Returns the bytes of a column's first `count` elements, or of all that a warp's tile holds if they are more.
__device__ __forceinline__ int tile_bytes(int element_bytes, Index count)
{
    return int(max(min(count, Index(kWarpItems)), Index(0))) * element_bytes;
}

// Starts to copy the first `count` elements of a column to a warp's tile, or as many as it holds. Each lane will
// take one row. Places behind the elements become zero if there are any elements.
__device__ __forceinline__ void copy_column(char* column, const char* source, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool in_vectors = (unsigned long long)source % 16 == 0;
    if (in_vectors && count >= kWarpItems) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads)
            if (byte + lane * 16 < row_bytes * kWarpThreads)  // short rows have fewer vectors than lanes
                copy_async(column + vector_place(byte, row_bytes), source + byte + lane * 16);
        return;
    }
    const int bytes = tile_bytes(element_bytes, count);
    const int vector_bytes = in_vectors ? bytes / 16 * 16 : 0;
    #pragma unroll 1
    for (int byte = 0; byte + lane * 16 < vector_bytes; byte += 16 * kWarpThreads)
        copy_async(column + vector_place(byte, row_bytes), source + byte + lane * 16);
    // What vectors leave: words, or elements that are narrower.
    const int step = element_bytes < 4 ? element_bytes : 4;
    const int end = count > 0 ? row_bytes * kWarpThreads : 0;
    #pragma unroll 1
    for (int mine = vector_bytes + lane * step; mine < end; mine += step * kWarpThreads) {
        char* const to = column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes);
        if (step == 4 && mine < bytes)
            copy_word_async(to, source + mine);
        else if (step == 4)
            *(unsigned*)to = 0;
        else if (step == 2)
            *(unsigned short*)to = mine < bytes ? *(const unsigned short*)(source + mine) : 0;
        else
            *to = mine < bytes ? source[mine] : char(0);
    }
}

// Writes the first `count` elements of a column of a warp's tile to memory, or as many as the tile holds.
__device__ __forceinline__ void store_column(char* to, const char* column, int element_bytes, Index count)
{
    const int lane = threadIdx.x % kWarpThreads;
    const int row_bytes = kItemsPerThread * element_bytes;
    const bool in_vectors = (unsigned long long)to % 16 == 0;
    if (in_vectors && count >= kWarpItems) {
        #pragma unroll
        for (int byte = 0; byte < row_bytes * kWarpThreads; byte += 16 * kWarpThreads)
            if (byte + lane * 16 < row_bytes * kWarpThreads)
                *(uint4*)(to + byte + lane * 16) = *(const uint4*)(column + vector_place(byte, row_bytes));
        return;
    }
    const int bytes = tile_bytes(element_bytes, count);
    const int vector_bytes = in_vectors ? bytes / 16 * 16 : 0;
    #pragma unroll 1
    for (int byte = 0; byte + lane * 16 < vector_bytes; byte += 16 * kWarpThreads)
        *(uint4*)(to + byte + lane * 16) = *(const uint4*)(column + vector_place(byte, row_bytes));
    const int step = element_bytes < 4 ? element_bytes : 4;
    #pragma unroll 1
    for (int mine = vector_bytes + lane * step; mine < bytes; mine += step * kWarpThreads) {
        const char* const from = column + tile_place(mine / row_bytes, mine % row_bytes, row_bytes);
        if (step == 4)
            *(unsigned*)(to + mine) = *(const unsigned*)from;
        else if (step == 2)
            *(unsigned short*)(to + mine) = *(const unsigned short*)from;
        else
            to[mine] = *from;
    }
}
