// Calls CUDA's functions; the test knows what they must give.
extern "C" __global__ void integers(const int* in, int* out)
{
    const int a = in[0], b = in[1];
    const unsigned u = in[2];
    out[0] = __popc(u);
    out[1] = __clz(a);
    out[2] = __clz(0);
    out[3] = __ffs(u);
    out[4] = __brev(u);
    out[5] = min(a, b);
    out[6] = max(a, b);
    out[7] = min(a, u) == u;
    out[8] = abs(b);
    out[9] = __popcll(0xff00ff00ff00ff00ull);
    out[10] = __clzll(1ll);
    out[11] = __float_as_int(1.0f);
    out[12] = __mulhi(1 << 20, 1 << 20);
    out[13] = warpSize;
}

extern "C" __global__ void floats(const float* in, float* out)
{
    const float nan = in[0], zero = in[1], minus_zero = in[2], two = in[3];
    out[0] = fminf(nan, two);
    out[1] = fmaxf(two, nan);
    out[2] = fminf(zero, minus_zero);
    out[3] = fmaxf(minus_zero, zero);
    out[4] = rsqrtf(two * two);
    out[5] = sqrt(two * two);
    out[6] = exp2f(two);
    out[7] = fma(two, two, two);
    out[8] = __fdividef(two, 4.0f);
    out[9] = copysign(two, minus_zero);
    out[10] = isnan(nan) + isinf(two / zero) + isfinite(two);
    out[11] = max(nan, two);
    out[12] = log1p(expm1(two));
    out[13] = abs(-two);
    out[14] = rint(two + 0.5f);
    out[15] = __segfold_f16_to_f32(__segfold_f32_to_f16(0.1f));
    out[16] = __segfold_bf16_to_f32(__segfold_f32_to_bf16(0.1f));
    out[17] = pow(two, 3.0f);
    out[18] = __int_as_float(0x40400000);
}

extern "C" __global__ void warps(int* out)
{
    const int lane = threadIdx.x;
    int all = 0;
    out[0 * 32 + lane] = __shfl_sync(0xffffffffu, lane, lane / 2);
    out[1 * 32 + lane] = __shfl_up_sync(0xffffffffu, lane, 3, 8);
    out[2 * 32 + lane] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
    out[3 * 32 + lane] = __shfl_xor_sync(0xffffffffu, lane, 5);
    out[4 * 32 + lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    out[5 * 32 + lane] = __any_sync(0xffffffffu, lane == 9) + 2 * __all_sync(0xffffffffu, lane == 9);
    out[6 * 32 + lane] = __match_any_sync(0xffffffffu, lane / 8);
    out[7 * 32 + lane] = __reduce_add_sync(0xffffffffu, lane);
    out[8 * 32 + lane] = __reduce_max_sync(0xffffffffu, lane - 40);
    out[9 * 32 + lane] = lane < 10 ? __reduce_min_sync(0x000003ffu, lane + 5) : -1;
    out[10 * 32 + lane] = __activemask() >> lane & 1;
    out[11 * 32 + lane] = __match_all_sync(0xffffffffu, 4, &all) + all;
    out[12 * 32 + lane] = __syncthreads_count(lane < 5) + 100 * __syncthreads_or(lane == 3) + 1000 * __syncthreads_and(lane < 40);
    out[13 * 32 + lane] = static_cast<int>(__shfl_sync(0xffffffffu, 0.25 * lane, 4) * 100);
    out[14 * 32 + lane] = static_cast<int>(__shfl_xor_sync(0xffffffffu, 1ll << lane, 1) >> (lane ^ 1));
}

extern "C" __global__ void atomics(int* out, unsigned* u, unsigned long long* wide, float* sum)
{
    out[0] = atomicAdd(&out[10], 5);
    out[1] = atomicSub(&out[10], 2);
    out[2] = atomicExch(&out[10], 9);
    out[3] = atomicCAS(&out[10], 9, 11);
    out[4] = atomicCAS(&out[10], 9, 12);
    out[5] = atomicMin(&out[10], -4);
    out[6] = atomicMax(&out[10], 6);
    out[7] = atomicAnd(&u[0], 12u);
    out[8] = atomicOr(&u[0], 3u);
    out[9] = atomicXor(&u[0], 1u);
    out[11] = atomicInc(&u[1], 1u);
    out[12] = atomicInc(&u[1], 1u);
    atomicAdd(&wide[0], 1ull << 40);
    atomicMax(&wide[1], 7ull);
    atomicAdd(sum, 0.5f);
}

struct Arrays {
    const int* values;
    int count;
};

// Structures travel by value; the components of indices and dimensions are all there.
extern "C" __global__ void structures(Arrays arrays, long long offset, int* out)
{
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    if (i < arrays.count)
        out[i + offset] = arrays.values[i];
}

__device__ int times_called = 0;

extern "C" __global__ void overflow(const int* values, int* out)
{
    atomicAdd(&times_called, 1);
    out[0] = values[0] + values[1];
}
