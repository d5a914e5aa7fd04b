// Returns the place of byte `byte` of row `row` in shared memory. A row has `row_bytes` bytes, a power of two
// from 4 on. Vectors of 16 bytes are permuted within their row. Lanes that read vector k of their own
// rows then use different banks, and so do lanes that write the vectors of one row.
__device__ __forceinline__ int tile_place(int row, int byte, int row_bytes)
{
    const int vectors = row_bytes / 16;
    const int mask = vectors >= 8 ? row & 7 : row * vectors / 8 & (vectors - 1);
    return row * row_bytes + ((byte / 16 ^ mask) * 16 | byte % 16);
}
