// Waits until all threads of the cluster's blocks have arrived. Behind this barrier they see each other's
// earlier writes, also in the shared memory of other blocks.
__device__ __forceinline__ void wait_for_cluster()
{
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Returns the address, in the shared memory of block `rank` of the cluster, of the variable that this block
// has at `mine`.
__device__ __forceinline__ const State* in_block(const State* mine, unsigned rank)
{
    const State* theirs;
    asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
}
