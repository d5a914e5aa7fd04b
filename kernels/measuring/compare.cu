// Kernels that compare results, in C++20: compare_TYPE(actual, expected, place, count, is_compacted, tolerance,
// difference) for each floating-point type, and compare_raw1 to compare_raw8 for all other types of 1 to 8 bytes.
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

// Compares `count` results. Result i is segment i, or segment place[i] if `place` is given. If is_compacted, `actual`
// has only these results, one behind the other.
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
