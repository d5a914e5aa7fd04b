// In each round, thread t joins the two neighbours at 2 * t and writes the result to t. Active threads lie
// side by side in warps, and the order is kept. A second barrier separates the reads of a round from its
// writes.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
    for (int pairs = kBlockThreads / 2; pairs > 0; pairs /= 2) {
        const bool takes_part = int(threadIdx.x) < pairs;
        if (takes_part)
            state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
        __syncthreads();  // all threads have read
        if (takes_part)
            tile[threadIdx.x] = state;
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
