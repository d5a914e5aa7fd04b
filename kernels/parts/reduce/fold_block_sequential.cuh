// In each round the first half of what is left joins the second half, place by place: the threads of a warp
// read neighbouring places. What is joined does not lie side by side, so combine() has to commute.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are there
    #pragma unroll 1
    for (int stride = kBlockThreads / 2; stride > 0; stride /= 2) {
        if (int(threadIdx.x) < stride)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
