// In each round, the first half of the remaining states joins the second half, place by place, so the threads
// of a warp read neighbouring places. Joined states are no neighbours, so combine() must commute.
__device__ __forceinline__ State fold_block(State state)
{
    __shared__ State tile[kBlockThreads];
    tile[threadIdx.x] = state;
    __syncthreads();  // all states are written
    #pragma unroll 1
    for (int stride = kBlockThreads / 2; stride > 0; stride /= 2) {
        if (int(threadIdx.x) < stride)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + stride]);
        __syncthreads();  // the round is over
    }
    return tile[threadIdx.x];
}
