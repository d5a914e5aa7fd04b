// A warp doubles tiles of 32 vectors: two are on their way while a third is folded, and each lane takes the vector
// that the next lane has copied.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
}

__device__ __forceinline__ void commit_copies()
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}

__device__ __forceinline__ void wait_for_all_copies_but_the_latest()
{
    asm volatile("cp.async.wait_group 1;" : : : "memory");
}

extern "C" __global__ void twice(const int4* __restrict__ values, int4* __restrict__ results, int num_tiles)
{
    __shared__ int4 tiles[3][32];
    const int lane = threadIdx.x;
    copy_async(&tiles[0][lane], values + lane);
    commit_copies();  // tile 0
    for (int tile = 0; tile < num_tiles; ++tile) {
        if (tile + 1 < num_tiles)
            copy_async(&tiles[(tile + 1) % 3][lane], values + (tile + 1) * 32 + lane);
        commit_copies();  // the next tile, or nothing
        wait_for_all_copies_but_the_latest();
        __syncwarp();  // the tile is there
        const int other = (lane + 1) % 32;
        const int4 value = tiles[tile % 3][other];
        results[tile * 32 + other] = make_int4(2 * value.x, 2 * value.y, 2 * value.z, 2 * value.w);
    }
}
