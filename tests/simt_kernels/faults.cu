// Kernels that each do one thing wrong. The tests know the lines.
extern "C" __global__ void read_past_end(const int* values, int* result, int place)
{
    result[threadIdx.x] = values[place];
}

extern "C" __global__ void write_before_start(int* values)
{
    values[int(threadIdx.x) - 1] = 7;
}

extern "C" __global__ void vector_load(const float* values, float* result)
{
    const float4 four = *reinterpret_cast<const float4*>(values + 1);
    result[0] = four.x + four.y + four.z + four.w;
}

extern "C" __global__ void divergent_barrier(int* values)
{
    if (threadIdx.x < 40)
        __syncthreads();
    values[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
}

extern "C" __global__ void exited_lane(int* values)
{
    if (threadIdx.x == 5)
        return;
    values[threadIdx.x] = __shfl_down_sync(0xffffffffu, values[threadIdx.x], 1);
}

extern "C" __global__ void absent_lane(int* values)
{
    if (threadIdx.x < 16)
        values[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0);
    else
        values[threadIdx.x] = __shfl_sync(0xffff0001u, 2, 16);
}

extern "C" __global__ void foreign_mask(int* values)
{
    values[threadIdx.x] = __any_sync(0x0000ffffu, values[threadIdx.x]);
}

extern "C" __global__ void source_outside_mask(int* values)
{
    if (threadIdx.x < 16)
        values[threadIdx.x] = __shfl_down_sync(0x0000ffffu, values[threadIdx.x], 1);
}

extern "C" __global__ void mixed_kinds(int* values)
{
    if (threadIdx.x < 16)
        values[threadIdx.x] = __any_sync(0xffffffffu, 1);
    else
        values[threadIdx.x] = __all_sync(0xffffffffu, 1);
}

extern "C" __global__ void wait_for_block(volatile int* flags)
{
    if (blockIdx.x + 1 < gridDim.x)
        while (flags[blockIdx.x + 1] == 0) {
        }
    flags[blockIdx.x] = 1;
}

extern "C" __global__ void uninitialised(int* result)
{
    __shared__ int memory[64];
    if (threadIdx.x != 3)
        memory[threadIdx.x] = 1;
    __syncthreads();
    result[threadIdx.x] = memory[threadIdx.x];
}

extern "C" __global__ void neighbour_block(int* values)
{
    values[blockIdx.x] = 1;
    if (blockIdx.x > 0 && values[blockIdx.x - 1] == 1)
        values[blockIdx.x] = 2;
}

extern "C" __global__ void same_word(int* values)
{
    values[0] = 1;
}

extern "C" __global__ void lock_in_vain(unsigned* lock, int* values)
{
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    values[threadIdx.x] = 1;
}

extern "C" __global__ void trap_in_one(int* values)
{
    if (values[threadIdx.x] == 3)
        __trap();
}

extern "C" __global__ void past_shared(int* values)
{
    __shared__ int memory[31];
    memory[threadIdx.x + values[0]] = 1;
}

extern "C" __global__ void bytes_apart(unsigned char* flags)
{
    flags[threadIdx.x] = 1;
}

extern "C" __global__ void count_in_vain(volatile unsigned* flag, int* tries)
{
    while (*flag == 0u)
        ++tries[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void barrier_of_some(int* values)
{
    if (threadIdx.x < 40)
        __syncthreads();
    values[threadIdx.x] = 1;
    __syncthreads();
}

extern "C" __global__ void barrier_in_two_branches(int* values)
{
    if (threadIdx.x % 2 == 0) __syncthreads(); else __syncthreads();
    values[threadIdx.x] = 1;
}

extern "C" __global__ void votes_in_two_branches(int* values)
{
    if (threadIdx.x < 32)
        values[threadIdx.x] = __syncthreads_or(min(values[0], 1));
    else
        values[threadIdx.x] = __syncthreads_and(1);
}

__device__ inline void wait() { __syncthreads(); }

extern "C" __global__ void barrier_of_a_function(int* values)
{
    for (int i = 0; i < 3; ++i)
        wait();
    if (blockIdx.x == 1)
        wait();
    else if (threadIdx.x == 0)
        values[0] = 1;
    wait();
}
