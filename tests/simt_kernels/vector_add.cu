// Each thread adds one pair.
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* sums, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sums[i] = a[i] + b[i];
}

// Each thread adds four neighbouring pairs, read and written as vectors of 16 bytes.
extern "C" __global__ void vector_add4(const float* __restrict__ a, const float* __restrict__ b, float* sums, int count)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count)
        return;
    const float4 x = *reinterpret_cast<const float4*>(a + i);
    const float4 y = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(sums + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
