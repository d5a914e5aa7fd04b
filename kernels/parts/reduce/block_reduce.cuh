//% use parts/reduce/warp_reduce.cuh
// Reduces one state per thread to thread 0, in thread order. Two calls need a barrier between them.
__device__ __forceinline__ State block_reduce(State state)
{
    constexpr int kWarps = kMostBlockThreads / kWarpThreads;
    //% if at_launch
    const int num_warps = blockDim.x / kWarpThreads;
    //% else
    constexpr int num_warps = kWarps;
    //% end
    __shared__ State partials[kWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;

    state = warp_reduce(state);
    if (lane == 0)
        partials[warp] = state;
    __syncthreads();  // all warps have written their partials
    if (warp == 0) {
        state = lane < num_warps ? partials[lane] : identity();
        #pragma unroll
        for (int delta = 1; delta < kWarps; delta *= 2)
            state = combine(state, shuffle_down(state, delta));
    }
    return state;
}
