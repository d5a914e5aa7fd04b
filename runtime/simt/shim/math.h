// CUDA's mathematical functions: the C library's under their own names, and CUDA's overloads.

extern "C" {
float sqrtf(float);
float expf(float);
float exp2f(float);
float exp10f(float);
float expm1f(float);
float logf(float);
float log2f(float);
float log10f(float);
float log1pf(float);
float powf(float, float);
float sinf(float);
float cosf(float);
float tanf(float);
float asinf(float);
float acosf(float);
float atanf(float);
float atan2f(float, float);
float sinhf(float);
float coshf(float);
float tanhf(float);
float erff(float);
float cbrtf(float);
float hypotf(float, float);
float floorf(float);
float ceilf(float);
float truncf(float);
float rintf(float);
float nearbyintf(float);
float roundf(float);
float fmodf(float, float);
float fmaf(float, float, float);
float fabsf(float);
float copysignf(float, float);
float ldexpf(float, int);
double sqrt(double);
double exp(double);
double exp2(double);
double exp10(double);
double expm1(double);
double log(double);
double log2(double);
double log10(double);
double log1p(double);
double pow(double, double);
double sin(double);
double cos(double);
double tan(double);
double asin(double);
double acos(double);
double atan(double);
double atan2(double, double);
double sinh(double);
double cosh(double);
double tanh(double);
double erf(double);
double cbrt(double);
double hypot(double, double);
double floor(double);
double ceil(double);
double trunc(double);
double rint(double);
double nearbyint(double);
double round(double);
double fmod(double, double);
double fma(double, double, double);
double fabs(double);
double copysign(double, double);
double ldexp(double, int);
int abs(int);
long labs(long);
long long llabs(long long);
}

#define __segfold_overload(name) \
    inline float name(float x) { return name##f(x); }
__segfold_overload(sqrt) __segfold_overload(exp) __segfold_overload(exp2) __segfold_overload(exp10)
    __segfold_overload(expm1) __segfold_overload(log) __segfold_overload(log2) __segfold_overload(log10)
        __segfold_overload(log1p) __segfold_overload(sin) __segfold_overload(cos) __segfold_overload(tan)
            __segfold_overload(asin) __segfold_overload(acos) __segfold_overload(atan)
                __segfold_overload(sinh) __segfold_overload(cosh) __segfold_overload(tanh)
                    __segfold_overload(erf) __segfold_overload(cbrt) __segfold_overload(floor)
                        __segfold_overload(ceil) __segfold_overload(trunc) __segfold_overload(rint)
                            __segfold_overload(nearbyint) __segfold_overload(round)
                                __segfold_overload(fabs) inline float pow(float x, float y)
{
    return powf(x, y);
}
inline float atan2(float y, float x) { return atan2f(y, x); }
inline float hypot(float x, float y) { return hypotf(x, y); }
inline float fmod(float x, float y) { return fmodf(x, y); }
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float copysign(float x, float y) { return copysignf(x, y); }
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

// As PTX defines min and max: a NaN operand loses, and -0 is less than +0.
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
// Names of our own behind the macros: the compiler's built-in fmin treats the zeros as equal.
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
__segfold_extremes(int) __segfold_extremes(unsigned) __segfold_extremes(long)
    __segfold_extremes(unsigned long) __segfold_extremes(long long) __segfold_extremes(unsigned long long)
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
        __segfold_mixed_extremes(int, unsigned) __segfold_mixed_extremes(long, unsigned long)
            __segfold_mixed_extremes(long long, unsigned long long) inline float min(float a, float b)
{
    return __segfold_least(a, b);
}
inline float max(float a, float b) { return __segfold_greatest(a, b); }
inline double min(double a, double b) { return __segfold_least(a, b); }
inline double max(double a, double b) { return __segfold_greatest(a, b); }
inline double min(float a, double b) { return __segfold_least<double>(a, b); }
inline double min(double a, float b) { return __segfold_least<double>(a, b); }
inline double max(float a, double b) { return __segfold_greatest<double>(a, b); }
inline double max(double a, float b) { return __segfold_greatest<double>(a, b); }

// Two's complement, where the lowest value is its own absolute value.
inline long abs(long x) { return x < 0 ? static_cast<long>(0ul - static_cast<unsigned long>(x)) : x; }
inline long long abs(long long x)
{
    return x < 0 ? static_cast<long long>(0ull - static_cast<unsigned long long>(x)) : x;
}
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }

// PTX's rcp.approx.ftz.f32, which is a bit less exact.
inline float __segfold_reciprocal(float x) { return 1.0f / x; }

// PTX's mul.wide.s32.
inline long long __segfold_wide_product(int a, int b) { return static_cast<long long>(a) * b; }
