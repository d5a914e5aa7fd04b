#include "runtime/bench/kernels.h"

namespace segfold::bench {

// The sum is written only if it is a value that it never has.
const char* const kReadKernels = R"(
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
)";

// A segment's elements come after those of all earlier ones, so the last segment that begins at or before an
// element is its own, and an empty segment is never the last that begins where it does unless it ends the
// data.
const char* const kKeyKernels = R"(
template <class Index>
__device__ __forceinline__ void keys_of(const Index* offsets, long long num_segments, long long num_elements, int* keys)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num_elements; i += stride) {
        long long low = 0, high = num_segments;
        while (high - low > 1) {
            const long long middle = (low + high) / 2;
            if (offsets[middle] <= i)
                low = middle;
            else
                high = middle;
        }
        keys[i] = int(low);
    }
}

extern "C" __global__ void keys_of_offsets32(const int* offsets, long long num_segments, long long num_elements,
                                             int* keys)
{
    keys_of(offsets, num_segments, num_elements, keys);
}

extern "C" __global__ void keys_of_offsets64(const long long* offsets, long long num_segments, long long num_elements,
                                             int* keys)
{
    keys_of(offsets, num_segments, num_elements, keys);
}

extern "C" __global__ void keys_of_length(long long length, long long num_elements, int* keys)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num_elements; i += stride)
        keys[i] = int(i / length);
}
)";

const char* const kCompareKernels = R"(
struct Difference {
    unsigned long long bits, beyond, first;
};

struct Raw8 { using Word = unsigned char; };
struct Raw16 { using Word = unsigned short; };
struct Raw32 { using Word = unsigned; };
struct Raw64 { using Word = unsigned long long; };

struct F16 {
    using Word = unsigned short;
    static __device__ double value(Word bits)
    {
        const unsigned magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
        if (magnitude >= 0x7c00u)
            return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
        const float scaled = __uint_as_float(magnitude << 13) * 5.192296858534828e+33f;
        return sign ? -scaled : scaled;
    }
};
struct Bf16 {
    using Word = unsigned short;
    static __device__ double value(Word bits) { return __uint_as_float(unsigned(bits) << 16); }
};
struct F32 {
    using Word = unsigned;
    static __device__ double value(Word bits) { return __uint_as_float(bits); }
};
struct F64 {
    using Word = unsigned long long;
    static __device__ double value(Word bits) { return __longlong_as_double((long long)bits); }
};

template <class Format>
__device__ __forceinline__ bool is_beyond(typename Format::Word a, typename Format::Word b, double tolerance)
{
    if constexpr (requires { Format::value(a); }) {
        const double x = Format::value(a), y = Format::value(b);
        if (x == y || (x != x && y != y))
            return false;
        return !(fabs(x - y) <= tolerance * fmax(1.0, fmax(fabs(x), fabs(y)))) || isinf(x) || isinf(y);
    } else {
        return true;
    }
}

// Place i of `actual` is segment i, or place[i] where only some segments count; compacted: they stand in a row.
template <class Format>
__device__ __forceinline__ void compare(const void* actual, const void* expected, const int* place, long long count,
                                        int is_compacted, double tolerance, Difference* difference)
{
    using Word = typename Format::Word;
    const auto* left = static_cast<const Word*>(actual);
    const auto* right = static_cast<const Word*>(expected);
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const long long segment = place ? place[i] : i;
        const Word a = left[is_compacted ? i : segment], b = right[segment];
        if (a == b)
            continue;
        atomicAdd(&difference->bits, 1ull);
        if (!is_beyond<Format>(a, b, tolerance))
            continue;
        atomicAdd(&difference->beyond, 1ull);
        atomicMin(&difference->first, (unsigned long long)segment);
    }
}

#define COMPARE(name, Format)                                                                                     \
    extern "C" __global__ void name(const void* actual, const void* expected, const int* place, long long count, \
                                    int is_compacted, double tolerance, Difference* difference)                  \
    {                                                                                                             \
        compare<Format>(actual, expected, place, count, is_compacted, tolerance, difference);                    \
    }
COMPARE(compare_raw1, Raw8)
COMPARE(compare_raw2, Raw16)
COMPARE(compare_raw4, Raw32)
COMPARE(compare_raw8, Raw64)
COMPARE(compare_f16, F16)
COMPARE(compare_bf16, Bf16)
COMPARE(compare_f32, F32)
COMPARE(compare_f64, F64)
)";

}  // namespace segfold::bench
