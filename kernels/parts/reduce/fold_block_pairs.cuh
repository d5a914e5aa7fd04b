// In each round thread t joins the two neighbours at 2 * t and puts them to t: threads of a warp work side by
// side and order is kept. Between reading and writing the places of a round all have to wait once more.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are there
    #pragma unroll 1
    for (int pairs = kBlockThreads / 2; pairs > 0; pairs /= 2) {
        const bool takes_part = int(threadIdx.x) < pairs;
        if (takes_part)
            state = combine(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
        __syncthreads();  // all have read
        if (takes_part)
            tile[threadIdx.x] = state;
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
