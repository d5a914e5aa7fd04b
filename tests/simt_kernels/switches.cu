// A block reduces `rounds` times over: ten shuffles and two barriers a thread and round, and next to no arithmetic.
extern "C" __global__ void __launch_bounds__(256)
switches(const float* __restrict__ values, float* __restrict__ sums, int rounds)
{
    __shared__ float partials[8];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float total = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        float sum = values[threadIdx.x];
        for (int delta = 16; delta > 0; delta /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, delta);
        if (lane == 0)
            partials[warp] = sum;
        __syncthreads();  // all partial sums are there
        float block_sum = lane < 8 ? partials[lane] : 0.0f;
        for (int delta = 16; delta > 0; delta /= 2)
            block_sum += __shfl_down_sync(0xffffffffu, block_sum, delta);
        total += block_sum;
        __syncthreads();  // nobody needs them any more
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}
