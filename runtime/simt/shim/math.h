// CUDA's mathematical functions: the C library's functions under their own names, and CUDA's overloads.

// Declares the C library's functions NAMEf and NAME, and defines NAME for a float.
#define __segfold_function(name)     \
    extern "C" float name##f(float); \
    extern "C" double name(double);  \
    inline float name(float x) { return name##f(x); }
#define __segfold_function_of_two(name)     \
    extern "C" float name##f(float, float); \
    extern "C" double name(double, double); \
    inline float name(float x, float y) { return name##f(x, y); }
__segfold_function(sqrt)
__segfold_function(exp)
__segfold_function(exp2)
__segfold_function(exp10)
__segfold_function(expm1)
__segfold_function(log)
__segfold_function(log2)
__segfold_function(log10)
__segfold_function(log1p)
__segfold_function(sin)
__segfold_function(cos)
__segfold_function(tan)
__segfold_function(asin)
__segfold_function(acos)
__segfold_function(atan)
__segfold_function(sinh)
__segfold_function(cosh)
__segfold_function(tanh)
__segfold_function(erf)
__segfold_function(cbrt)
__segfold_function(floor)
__segfold_function(ceil)
__segfold_function(trunc)
__segfold_function(rint)
__segfold_function(nearbyint)
__segfold_function(round)
__segfold_function(fabs)
__segfold_function_of_two(pow)
__segfold_function_of_two(atan2)
__segfold_function_of_two(hypot)
__segfold_function_of_two(fmod)
__segfold_function_of_two(copysign)

extern "C" {
float fmaf(float, float, float);
double fma(double, double, double);
float ldexpf(float, int);
double ldexp(double, int);
int abs(int);
long labs(long);
long long llabs(long long);
}
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int exponent) { return ldexpf(x, exponent); }

inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

// min and max as PTX defines them: a NaN operand loses, and -0 is less than +0.
template <class T>
inline T __segfold_least(T a, T b)
{
    if (__builtin_isnan(a))
        return b;
    if (a == b)
        return __builtin_signbit(a) ? a : b;
    return b < a ? b : a;
}
template <class T>
inline T __segfold_greatest(T a, T b)
{
    if (__builtin_isnan(a))
        return b;
    if (a == b)
        return __builtin_signbit(a) ? b : a;
    return a < b ? b : a;
}
// The macros redirect to functions of other names, because the compiler's built-in fmin treats 0 and -0 as
// equal.
#define fminf __segfold_least<float>
#define fmaxf __segfold_greatest<float>
inline double __segfold_fmin(double a, double b) { return __segfold_least(a, b); }
inline float __segfold_fmin(float a, float b) { return __segfold_least(a, b); }
inline double __segfold_fmax(double a, double b) { return __segfold_greatest(a, b); }
inline float __segfold_fmax(float a, float b) { return __segfold_greatest(a, b); }
#define fmin __segfold_fmin
#define fmax __segfold_fmax

#define __segfold_extremes(type)                              \
    inline type min(type a, type b) { return b < a ? b : a; } \
    inline type max(type a, type b) { return a < b ? b : a; }
__segfold_extremes(int)
__segfold_extremes(unsigned)
__segfold_extremes(long)
__segfold_extremes(unsigned long)
__segfold_extremes(long long)
__segfold_extremes(unsigned long long)
#define __segfold_mixed_extremes(signed_type, unsigned_type) \
    inline unsigned_type min(signed_type a, unsigned_type b) \
    {                                                        \
        return min(static_cast<unsigned_type>(a), b);        \
    }                                                        \
    inline unsigned_type min(unsigned_type a, signed_type b) \
    {                                                        \
        return min(a, static_cast<unsigned_type>(b));        \
    }                                                        \
    inline unsigned_type max(signed_type a, unsigned_type b) \
    {                                                        \
        return max(static_cast<unsigned_type>(a), b);        \
    }                                                        \
    inline unsigned_type max(unsigned_type a, signed_type b) { return max(a, static_cast<unsigned_type>(b)); }
__segfold_mixed_extremes(int, unsigned)
__segfold_mixed_extremes(long, unsigned long)
__segfold_mixed_extremes(long long, unsigned long long)
inline float min(float a, float b) { return __segfold_least(a, b); }
inline float max(float a, float b) { return __segfold_greatest(a, b); }
inline double min(double a, double b) { return __segfold_least(a, b); }
inline double max(double a, double b) { return __segfold_greatest(a, b); }
inline double min(float a, double b) { return __segfold_least<double>(a, b); }
inline double min(double a, float b) { return __segfold_least<double>(a, b); }
inline double max(float a, double b) { return __segfold_greatest<double>(a, b); }
inline double max(double a, float b) { return __segfold_greatest<double>(a, b); }

// The lowest value has no positive counterpart; its absolute value wraps to itself.
inline long abs(long x) { return x < 0 ? static_cast<long>(0ul - static_cast<unsigned long>(x)) : x; }
inline long long abs(long long x)
{
    return x < 0 ? static_cast<long long>(0ull - static_cast<unsigned long long>(x)) : x;
}
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }

// Stands for PTX's rcp.approx.ftz.f32, which is slightly less exact.
inline float __segfold_reciprocal(float x) { return 1.0f / x; }

// Stands for PTX's ex2.approx.ftz.f32, which is slightly less exact and gives 0 for subnormal numbers.
inline float __segfold_power_of_two(float x) { return __builtin_exp2f(x); }

// Like PTX's mul.wide.s32.
inline long long __segfold_wide_product(int a, int b) { return static_cast<long long>(a) * b; }
