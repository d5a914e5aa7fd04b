//% piece quotient
// @comment@
__device__ __forceinline__ @type@ @function@(@type@ x, @type@ y)
{
    if (y == 0)
        return @of_zero@;
//% each overflow
    if (y == -1)
        return @of_minus_one@;
//% end
    return @otherwise@;
}

//% piece divide_one
// Returns 1 / y for a whole number y, rounded as by a division, but without a division's slow path. One step
// of Newton's method from the hardware's reciprocal is enough, because no whole number is very small or very
// large.
__device__ __forceinline__ float divide_one(float y)
{
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(y));
    const float nearest = fmaf(fmaf(-y, near, 1.0f), near, near);
    return y == 0.0f ? near : nearest;
}

//% piece divide_whole
// Returns x / y for whole numbers, rounded as by a division: the quotient by the reciprocal, corrected by its
// remainder (Markstein 1990, Computation of elementary functions on the IBM RISC System/6000).
__device__ __forceinline__ float divide_whole(float x, float y)
{
    const float reciprocal = divide_one(y);
    const float near = x * reciprocal;
    const float nearest = fmaf(fmaf(-y, near, x), reciprocal, near);
    return y == 0.0f ? near : nearest;
}

//% piece quick_exp
// Returns e^x for results that are rounded to 16 bits. The error is at most 10^-5 of the power, or 10^-38.
__device__ __forceinline__ float quick_exp(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
    return power;
}

//% piece absolute
// Returns the absolute value. The lowest value has no positive twin and stays unchanged.
__device__ __forceinline__ @type@ @function@(@type@ x)
{
    return x < 0 ? @negated@ : x;
}

//% piece opaque
// Returns x, and hides its origin from compilers, because they forget that some arithmetic wraps.
__device__ __forceinline__ int opaque(int x)
{
    asm("" : "+r"(x));
    return x;
}

//% piece opaque_real
// Returns x and hides its origin from NVRTC, which would fold the minimum or maximum of 0 and -0 to either.
__device__ __forceinline__ @type@ @function@(@type@ x)
{
    auto bits = __builtin_bit_cast(@bits@, x);
    asm("" : "+@register@"(bits));
    return __builtin_bit_cast(@type@, bits);
}

//% piece conversion
// Converts a number, rounding toward zero. A value beyond the type becomes the nearest end of the type; NaN
// becomes 0.
__device__ __forceinline__ @type@ @function@(float x)
{
    if (!(x > @least_float@))
        return x != x ? 0 : @lowest@;
    return x >= @end_float@ ? @highest@ : @type@(x);
}

__device__ __forceinline__ @type@ @function@(double x)
{
    if (!(x > @least_double@))
        return x != x ? 0 : @lowest@;
    return x >= @end_double@ ? @highest@ : @type@(x);
}
