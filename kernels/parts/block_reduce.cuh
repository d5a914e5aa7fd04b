//% use parts/warp_reduce.cuh
// Reduces one state per thread to thread 0, in thread order.
__device__ State block_reduce(State state)
{
    constexpr int kWarps = kBlockThreads / kWarpThreads;
    __shared__ State partials[kWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;

    state = warp_reduce(state);
    if (lane == 0)
        partials[warp] = state;
    __syncthreads();  // the partials of all warps are there
    if (warp == 0)
        state = warp_reduce(lane < kWarps ? partials[lane] : identity());
    __syncthreads();  // all have been read, the next call may write them
    return state;
}
