// read1, read4 and read8(values, count, sink) read every float4 once, with 1, 4 or 8 loads in flight. The sum
// is written only if it equals a value that never occurs, so that compilers keep the loads.
__device__ __forceinline__ float load(const float4* place)
{
    const float4 v = __ldcs(place);
    return v.x + v.y + v.z + v.w;
}

template <int kLoads>
__device__ __forceinline__ void read(const float4* values, long long count, float* sink)
{
    float sums[kLoads] = {};
    const long long stride = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + (kLoads - 1) * stride < count; i += kLoads * stride)
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            sums[k] += load(values + i + k * stride);
    for (; i < count; i += stride)
        sums[0] += load(values + i);
    float sum = 0.0f;
    for (int k = 0; k < kLoads; ++k)
        sum += sums[k];
    if (sum == 1.2345e30f)
        *sink = sum;
}

extern "C" __global__ void read1(const float4* v, long long n, float* sink) { read<1>(v, n, sink); }
extern "C" __global__ void read4(const float4* v, long long n, float* sink) { read<4>(v, n, sink); }
extern "C" __global__ void read8(const float4* v, long long n, float* sink) { read<8>(v, n, sink); }
