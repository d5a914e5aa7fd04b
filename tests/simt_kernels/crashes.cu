// Kernels that crash a CPU or never end.
extern "C" __global__ void wild_write(int* values, long long offset)
{
    values[offset] = 1;
}

extern "C" __global__ void divide(const int* values, int* result)
{
    result[threadIdx.x] = 100 / values[threadIdx.x];
}

extern "C" __global__ void endless(const int* flag, int* result)
{
    unsigned x = *flag;
    while (x != 1)
        x = x * 5 + 3 | 2;
    *result = x;
}

__device__ __noinline__ int deep(int depth, int* values)
{
    int local[1000];
    for (int i = 0; i < 1000; ++i)
        local[i] = values[i % 32] + depth;
    return depth == 0 ? local[values[0]] : deep(depth - 1, values) + local[depth];
}

extern "C" __global__ void recursion(int* values)
{
    values[threadIdx.x] = deep(100, values);
}
