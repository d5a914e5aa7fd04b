// Waits until all threads of the cluster's blocks are here. What they did before is seen behind it, also in
// each other's shared memory.
__device__ __forceinline__ void wait_for_cluster()
{
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Where block `rank` of the cluster has what this block has at `mine` in its shared memory.
__device__ __forceinline__ const State* in_block(const State* mine, unsigned rank)
{
    const State* theirs;
    asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
}
